"""Train the diffusion model and draw from it: the four algorithms of the paper, in torch."""

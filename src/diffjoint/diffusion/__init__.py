"""Train the diffusion model and draw from it: the algorithms of the paper, and all uses of torch."""

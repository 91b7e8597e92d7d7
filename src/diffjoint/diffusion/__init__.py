"""The diffusion model: the paper's four algorithms, and all that needs torch."""

"""The diffusion engine of Karras et al. (2022), in plain torch."""

from diffjoint.diffusion.edm.denoiser import Denoiser, new_denoiser
from diffjoint.diffusion.edm.heun import heun_step
from diffjoint.diffusion.edm.loss import denoising_loss
from diffjoint.diffusion.edm.noise import draw_keys, keyed_normal
from diffjoint.diffusion.edm.schedule import sampling_sigmas, training_sigmas

__all__ = [
    "Denoiser",
    "denoising_loss",
    "draw_keys",
    "heun_step",
    "keyed_normal",
    "new_denoiser",
    "sampling_sigmas",
    "training_sigmas",
]

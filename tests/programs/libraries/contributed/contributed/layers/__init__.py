from .core import CosineDense
from .crf import CRF, crf_accuracy, crf_loss
from .normalization import InstanceNormalization
from .swish import SubPixelUpscaling, Swish

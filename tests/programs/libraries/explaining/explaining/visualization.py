import numpy as np
from keras import backend as K
from keras.layers import Conv1D, Conv2D, MaxPooling2D
from scipy.ndimage import zoom

from .backend import modify_model_backprop
from .losses import ActivationMaximization, LPNorm, TotalVariation
from .optimizer import Optimizer
from .utils import find_layer_idx


def visualize_saliency(model, layer_idx, filter_indices, seed_input, backprop_modifier=None):
    if backprop_modifier is not None:
        model = modify_model_backprop(model, backprop_modifier)
    losses = [(ActivationMaximization(model.layers[layer_idx], filter_indices), -1)]
    opt = Optimizer(model.input, losses, norm_grads=False)
    grads = opt.minimize(seed_input, max_iter=1, grad_modifier=np.absolute)[1]
    grads = np.max(grads, axis=-1)[0]
    return (grads - grads.min()) / (grads.max() - grads.min() + K.epsilon())


def visualize_cam(model, layer_idx, filter_indices, seed_input, penultimate_layer_idx=None):
    if penultimate_layer_idx is None:
        for idx, layer in reversed(list(enumerate(model.layers[:layer_idx - 1]))):
            if isinstance(layer, (Conv1D, Conv2D, MaxPooling2D)):
                penultimate_layer_idx = idx
                break
    output = model.layers[penultimate_layer_idx].output
    losses = [(ActivationMaximization(model.layers[layer_idx], filter_indices), -1)]
    opt = Optimizer(model.input, losses, wrt_tensor=output, norm_grads=False)
    _, grads, value = opt.minimize(seed_input, max_iter=1)
    grads = grads / (np.max(grads) + K.epsilon())
    weights = np.mean(grads, axis=(0, 1, 2))
    heatmap = np.maximum(np.dot(value[0], weights), 0.)
    size = K.int_shape(model.input)[1:-1]
    return zoom(heatmap, [a / float(b) for a, b in zip(size, heatmap.shape)], order=1)


def visualize_activation(model, layer_idx, filter_indices, seed_input, max_iter=15):
    losses = [(ActivationMaximization(model.layers[layer_idx], filter_indices), 1.),
              (LPNorm(model.input), .5), (TotalVariation(model.input), .2)]
    history = []
    opt = Optimizer(model.input, losses)
    found = opt.minimize(seed_input, max_iter=max_iter,
                         callbacks=[lambda i, named, overall, g, w: history.append(overall)])[0]
    return found, history

import numpy as np
from keras import backend as K


class Optimizer(object):
    """Changes an input so that weighted losses fall, by RMSProp in NumPy."""

    def __init__(self, input_tensor, losses, input_range=(0., 1.), wrt_tensor=None,
                 norm_grads=True):
        self.input_tensor, self.input_range = input_tensor, input_range
        self.loss_names, self.loss_functions = [], []
        self.wrt_tensor = self.input_tensor if wrt_tensor is None else wrt_tensor
        if self.input_tensor is self.wrt_tensor:
            self.wrt_tensor_is_input_tensor = True
            self.wrt_tensor = K.identity(self.wrt_tensor)
        else:
            self.wrt_tensor_is_input_tensor = False
        overall_loss = None
        for loss, weight in losses:
            if weight != 0:
                loss_fn = weight * loss.build_loss()
                overall_loss = loss_fn if overall_loss is None else overall_loss + loss_fn
                self.loss_names.append(loss.name)
                self.loss_functions.append(loss_fn)
        if self.wrt_tensor_is_input_tensor:
            grads = K.gradients(overall_loss, self.input_tensor)[0]
        else:
            grads = K.gradients(overall_loss, self.wrt_tensor)[0]
        if norm_grads:
            grads = K.l2_normalize(grads)
        self.compute_fn = K.function(
            [self.input_tensor, K.learning_phase()],
            self.loss_functions + [overall_loss, grads, self.wrt_tensor])

    def _rmsprop(self, grads, cache=None, decay_rate=0.95):
        if cache is None:
            cache = np.zeros_like(grads)
        cache = decay_rate * cache + (1 - decay_rate) * grads ** 2
        return -grads / np.sqrt(cache + K.epsilon()), cache

    def minimize(self, seed_input, max_iter=20, grad_modifier=None, callbacks=None):
        img, cache, best_loss, best = np.array(seed_input, 'float64'), None, float('inf'), None
        grads = wrt_value = None
        for i in range(max_iter):
            computed = self.compute_fn([img, 0])
            losses, named = computed[:len(self.loss_names)], zip(self.loss_names, computed)
            overall_loss, grads, wrt_value = computed[len(self.loss_names):]
            if grad_modifier is not None:
                grads = grad_modifier(grads)
            for c in callbacks or []:
                c(i, list(named), overall_loss, grads, wrt_value)
            if self.wrt_tensor_is_input_tensor:
                step, cache = self._rmsprop(grads, cache)
                img += .05 * step
            if overall_loss < best_loss:
                best_loss, best = overall_loss.copy(), img.copy()
        return best[0], grads, wrt_value

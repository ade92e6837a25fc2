from keras import backend as K


class Loss(object):
    name = 'unnamed'

    def __str__(self):
        return self.name

    def build_loss(self):
        raise NotImplementedError()


class ActivationMaximization(Loss):
    def __init__(self, layer, filter_indices):
        self.name, self.layer = 'ActivationMax Loss', layer
        self.filter_indices = [filter_indices] if isinstance(filter_indices, int) else filter_indices

    def build_loss(self):
        out, loss = self.layer.output, 0.
        for idx in self.filter_indices:
            if K.ndim(out) == 2:
                loss += -K.mean(out[:, idx])
            else:
                loss += -K.mean(out[..., idx])
        return loss


class TotalVariation(Loss):
    def __init__(self, img_input, beta=2.):
        self.name, self.img, self.beta = 'TV', img_input, beta

    def build_loss(self):
        size, total = K.int_shape(self.img)[1:-1], None
        for axis in range(1, K.ndim(self.img) - 1):
            low, high = ([slice(None)] * axis + [part] for part in (slice(None, -1), slice(1, None)))
            d = K.square(self.img[tuple(high)] - self.img[tuple(low)])
            total = K.sum(d) if total is None else total + K.sum(d)
        return total / (size[0] * size[1])


class LPNorm(Loss):
    def __init__(self, img_input, p=6.):
        self.name, self.img, self.p = 'L-{} Norm'.format(p), img_input, p

    def build_loss(self):
        return K.pow(K.sum(K.pow(K.abs(self.img), self.p)), 1. / self.p) / 64.

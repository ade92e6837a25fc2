from keras import backend as K

if K.backend() == 'theano':
    raise ImportError('contributed has no functions for Theano')
elif K.backend() == 'tensorflow':
    from .tensorflow_backend import *
else:
    raise ValueError('Unknown backend: ' + K.backend())

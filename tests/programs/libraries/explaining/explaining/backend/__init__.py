from __future__ import absolute_import

import importlib
import os

from keras import backend as K

_BACKEND = K.backend()
modify_model_backprop = importlib.import_module(
    '.{}_backend'.format(_BACKEND), __name__).modify_model_backprop

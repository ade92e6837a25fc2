"""The original Keras 2.3.1's own tests, unmodified, run on Kameleon: see `run.py` beside this."""

"""The digits' network in a page, where ONNX Runtime Web trains it: see `folder.py`."""

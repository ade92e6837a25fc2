"""Parts of Keras that Kameleon has in the place of the original's, where these refuse it.

These modules import the hosted Keras, which imports Kameleon: only `kameleon.compat.keras2` loads
them, once Keras has what they need.
"""

"""TensorFlow's file formats, byte for byte.

crc       checksums
tables    sorted tables of keys and values
slices    parts of tensors, and what they are called
bundles   checkpoints: an index, and files with tensors' bytes
older     checkpoints of the first version, one table
records   files of records
parts     lines and other parts of files
png       pictures
summaries what summaries hold
events    event files
"""

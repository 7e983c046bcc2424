"""Which TensorFlow drives a TPU where: what was seen, by whom, and what to install.

`table` is the data, `state` finds an environment in it and says what gets to the TPU from there,
`words` puts both into texts. Version advice stands nowhere else.
"""

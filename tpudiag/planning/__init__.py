"""Which TPU and which batch, by the TPU compiler's word."""

"""TensorBoard profiles as a source of signals: XSpaces are read without TensorFlow.

`facts` is what verbs call; `locate` finds runs, `xspace` reads the format.
"""

from tpudiag.sources.profile.run_reader import facts

__all__ = ["facts"]

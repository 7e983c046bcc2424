"""TensorBoard profiles as a source of signals: XSpaces are read without TensorFlow.

`facts` and `span_step_times` are what verbs call; `locate` finds runs, `xspace` reads the format.
"""

from tpudiag.sources.profile.run_reader import facts, span_step_times

__all__ = ["facts", "span_step_times"]

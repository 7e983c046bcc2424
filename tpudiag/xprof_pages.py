"""Which page of XProf shows what a check is about, and where one may be listening."""

import socket
from typing import Any

USUAL_SERVERS = ("http://localhost:8791", "http://localhost:6006")
"""The default addresses of xprof and TensorBoard."""
OVERVIEW = "Overview Page"
INPUT = "Input Pipeline Analysis"
TRACE = "Trace Viewer"
MEMORY = "Memory Viewer"
MEMORY_PROFILE = "Memory Profile"
OP_PROFILE = "HLO Op Profile"
OP_STATS = "HLO Op Stats"
GRAPH = "Graph Viewer"
ROOFLINE = "Roofline Model"

PAGES: dict[str, str | None] = {
    "TPU1": TRACE,
    "TPU102": GRAPH,
    "TPU103": GRAPH,
    "TPU2": INPUT,
    "TPU208": None,
    "TPU210": TRACE,
    "TPU3": MEMORY,
    "TPU301": MEMORY_PROFILE,
    "TPU303": OP_STATS,
    "TPU4": OP_PROFILE,
    "TPU405": ROOFLINE,
    "TPU406": TRACE,
    "TPU503": TRACE,
    "TPU504": OP_PROFILE,
    "TPU603": OVERVIEW,
    "TPU604": TRACE,
}
"""By id, or by family for those without a page of their own; names as XProf's menu has them."""


TOOLS = {
    OVERVIEW: "overview_page",
    INPUT: "input_pipeline_analyzer",
    TRACE: "trace_viewer@",
    MEMORY: "memory_viewer",
    MEMORY_PROFILE: "memory_profile",
    OP_PROFILE: "op_profile",
    OP_STATS: "hlo_stats",
    GRAPH: "graph_viewer",
    ROOFLINE: "roofline_model",
}
"""What the pages are called in XProf's addresses."""


def page(id_: str) -> str | None:
    """The page for a check; None where a profile shows nothing of it."""
    return PAGES.get(id_, PAGES.get(id_[:4]))


LIMIT_S = 0.2
"""How long a connection on this machine may take."""


def listens(address: str) -> bool:
    """Whether a server accepts connections at `http://host:port`."""
    host, _, port = address.rpartition("/")[2].partition(":")
    try:
        # As bytes, which typeshed does not know: text would load the codecs of international names.
        where: Any = (host.encode(), int(port))
        with socket.create_connection(where, timeout=LIMIT_S):
            return True
    except OSError:
        return False

"""The pages of XProf that findings name are pages that XProf has."""

from importlib.resources import files

from tpudiag.catalogue import checks
from tpudiag.xprof_pages import PAGES, TOOLS, page


def test_xprof_has_every_page() -> None:
    static = files("xprof").joinpath("static")
    scripts = [file for file in static.iterdir() if file.name.endswith(".js")]
    text = "".join(script.read_text(encoding="utf-8") for script in scripts)
    assert {name for name in PAGES.values() if name and f'"{name}"' not in text} == set()
    assert {name for name in TOOLS.values() if f'path:"{name}"' not in text} == set()
    assert {name for name in PAGES.values() if name} <= TOOLS.keys()
    viewer = static.joinpath("trace_viewer_index.js").read_text(encoding="utf-8")
    for parameter in ("view_start", "view_end", "trace_data_url", "is_streaming"):
        assert f"'{parameter}'" in viewer, "what a link to a moment is made of"


def test_an_id_without_a_page_of_its_own_has_its_familys() -> None:
    assert page("TPU201") == page("TPU299") == "Input Pipeline Analysis"
    assert page("TPU504") == "HLO Op Profile"
    assert page("TPU208") is None, "a path is no matter of a profile"
    assert page("TPU001") is page("TPU601") is page("?") is None


def test_every_check_of_a_profile_names_a_page() -> None:
    silent = {check.id for check in checks() if page(check.id) is None}
    assert all(
        id_.startswith(("TPU0", "TPU50", "TPU51", "TPU52", "TPU6", "TPU7")) or id_ == "TPU208"
        for id_ in silent
    )

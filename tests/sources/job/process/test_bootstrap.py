"""The finder that makes this package, and nothing else, importable in the job's Python."""

from tpudiag.sources.job.process.bootstrap import PACKAGE, OwnPackage


def test_only_this_package_is_found_wherever_it_lies() -> None:
    finder = OwnPackage()
    package = finder.find_spec("tpudiag", None)
    assert package is not None and package.origin == str(PACKAGE / "__init__.py")
    module = finder.find_spec("tpudiag.model", [str(PACKAGE)])
    assert module is not None and module.origin == str(PACKAGE / "model.py")
    assert finder.find_spec("tpudiag.no_such_module", [str(PACKAGE)]) is None
    assert finder.find_spec("json", None) is None
    assert finder.find_spec("pytest", None) is None

"""Asks a package, or a layer, what its installation still needs. Run by the layer's own interpreter.

layer_probe.py isolation FILE    prints "shared" if FILE builds with the setuptools that is there, else "isolated"
layer_probe.py missing FOLDER    prints the requirements of FOLDER's distributions that nothing installed satisfies; the
                                 satisfied ones, which what is installed next must not break, after "= "; and lines for the
                                 log after "# "
"""

import os
import re
import sys
import tarfile
import zipfile


def _member(path, name):
    """The text of TOP/NAME in a source distribution, or None."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.namelist():
                if entry.count("/") == 1 and entry.endswith("/" + name):
                    return archive.read(entry).decode("utf-8", "replace")
        return None
    with tarfile.open(path) as archive:
        for entry in archive:
            if entry.name.lstrip("./").count("/") == 1 and entry.name.endswith("/" + name) and entry.isfile():
                return archive.extractfile(entry).read().decode("utf-8", "replace")
    return None


def _builds(project):
    """Whether the setuptools that is there can build and pip install the result."""
    from importlib.util import find_spec

    if find_spec("setuptools") is None:
        return False
    if find_spec("wheel") is not None or find_spec("setuptools.command.bdist_wheel") is not None:
        return True
    import pip

    # Before pip 23.1, setup.py alone will do where wheel is missing.
    return project is None and tuple(map(int, re.findall(r"\d+", pip.__version__)[:2])) < (23, 1)


def isolation(path):
    try:
        project = _member(path, "pyproject.toml")
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError):
        return "shared"  # not an archive: pip will say so
    if not _builds(project):
        return "isolated"
    section = re.search(r"^\[build-system\](.*?)(?=^\[|\Z)", project or "", re.M | re.S)
    requires = re.search(r"^\s*requires\s*=\s*\[(.*?)\]\s*$", section.group(1) if section else "", re.M | re.S)
    names = re.findall(r"[\"']\s*([A-Za-z0-9._-]+)", requires.group(1)) if requires else []
    return "shared" if all(name.lower() in ("setuptools", "wheel") for name in names) else "isolated"


def _distributions(folders=None):
    """(name, version, requirements, installer) of each distribution in the folders, or on sys.path."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7
        import pkg_resources

        for found in pkg_resources.WorkingSet(folders):
            installer = found.get_metadata("INSTALLER") if found.has_metadata("INSTALLER") else ""
            yield found.project_name, found.version, [str(r) for r in found.requires()], installer.strip()
        return
    for found in metadata.distributions(**({"path": folders} if folders else {})):
        if found.metadata["Name"]:
            yield found.metadata["Name"], found.version, list(found.requires or []), (found.read_text("INSTALLER") or "").strip()


def missing(folder):
    from pip._vendor.packaging.requirements import Requirement

    def plain(name):
        return re.sub(r"[-_.]+", "-", name).lower()

    installed = {}
    for name, version, _, _ in _distributions():
        installed.setdefault(plain(name), version)  # the first on sys.path is the one that is imported
    own = list(_distributions([folder]))
    stand_ins = {plain(name) for name, _, _, installer in own if installer == "trainyard"}  # for the runtime's TensorFlow
    for _, _, requirements, _ in own:
        for text in requirements:
            requirement = Requirement(text)
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
                continue
            version = installed.get(plain(requirement.name))
            requirement.marker = None
            if version is None or requirement.extras or \
                    not requirement.specifier.contains(version, prereleases=True):
                yield str(requirement)
                continue
            if requirement.url is None and requirement.specifier:
                yield "= %s%s" % (requirement.name, requirement.specifier)
            if plain(requirement.name) in stand_ins:
                yield "# The requirement %s is met by the runtime version's TensorFlow %s." % (requirement, version)


if __name__ == "__main__":
    if sys.argv[1] == "isolation":
        print(isolation(sys.argv[2]))
    else:
        print("\n".join(dict.fromkeys(missing(os.path.abspath(sys.argv[2])))))

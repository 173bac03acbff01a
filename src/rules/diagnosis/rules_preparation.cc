#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "rules/diagnosis/classify.h"
#include "rules/diagnosis/rule.h"

namespace trainyard::diagnosis {
namespace {

/// "Needs_Figlet" and "needs-figlet" are one package.
std::string Normalized(std::string_view name) {
  std::string normalized = ToLower(name);
  std::ranges::replace_if(normalized, [](char c) { return c == '_' || c == '.'; }, '-');
  return normalized;
}

/// Whether the tool blames a package that the user's own needs.
bool IsRequirementsBuild(const Symptoms& seen) {
  const auto blamed = Match("the package * cannot be built: ", seen.message);
  if (!blamed) return false;
  const std::string_view uri = PackageUri(seen);
  const std::string file = Normalized(uri.substr(uri.rfind('/') + 1));
  return !file.starts_with(Normalized(blamed->front()) + "-");
}

bool IsOwnBuild(const Symptoms& seen) { return !IsRequirementsBuild(seen); }

/// Whether setup.py misses a file, and not a program that it wanted to run: that has no extension.
bool ReadsFile(const Symptoms& seen) {
  const auto missing = Match("FileNotFoundError: *directory: '*'", seen.message);
  return missing && missing->back().contains('.') && IsOwnBuild(seen);
}

constexpr std::array kRules{
    Rule{.name = "disk_full",
         .meaning = "a write failed: no space left, or over a quota",
         .summary = "The disk is full.",
         .advice = "Free space on the disk that holds the server's data directory, then submit again.",
         .patterns = {"No space left on device", "Disk quota exceeded"}},
    Rule{.name = "container_program",
         .meaning = "the image's program, or containerCommand, cannot be run",
         .summary = "The container's program cannot be run: {1}.",
         .advice =
             "Correct ENTRYPOINT, CMD or containerCommand: the file must be in the image, executable and "
             "built for this kind of machine.",
         .patterns = {"the container's program cannot be run: *"}},
    Rule{.name = "container_refused",
         .meaning = "the kernel or the OCI runtime refused to make the container",
         .summary = "The container cannot be made on this machine: {1}.",
         .advice = "Containers need root, or user namespaces and a data directory on a file system that "
                   "overlayfs supports (ext4, "
                   "xfs, btrfs); a Docker or podman socket is the other way to run them.",
         .patterns = {"the container could not be made: *", "namespaces that a container needs (*)",
                      "mount the image's layers (overlay): *"}},
    Rule{.name = "container_user",
         .meaning = "the image's USER is not in its files, or cannot be mapped",
         .summary = "The image's user cannot be used: {message}.",
         .advice = "Correct USER in the image, or grant further ids to the server's user.",
         .patterns = {"the image's USER names", "the image runs as user"}},
    Rule{.name = "pip_index_unreachable",
         .meaning = "pip could not reach its index",
         .summary = "pip could not reach the package index ({1}).",
         .advice =
             "Check the network and pip's settings (PIP_INDEX_URL, a proxy), or put every package that is "
             "needed into packageUris.",
         .patterns = {"Could not reach the package index (*)"}},
    Rule{.name = "pip_requirement_missing",
         .meaning = "pip found no distribution for a requirement",
         .summary = "pip found no distribution for the requirement '{1}'{package}.",
         .advice =
             "Correct its name and version in install_requires of setup.py; it must exist for this runtime "
             "version's Python.",
         .run_advice = "Correct its name and version in requirements.txt (or pyproject.toml) beside the "
                       "program; it must exist for this runtime version's Python.",
         .patterns = {"No matching distribution found for * (from", "No matching distribution found for *"}},
    Rule{.name = "pip_conflict",
         .meaning = "requirements contradict each other",
         .summary = "The requirements contradict each other: {1}.",
         .advice =
             "Loosen the versions in install_requires of setup.py so that one set satisfies all of them.",
         .run_advice = "Loosen the versions in requirements.txt (or pyproject.toml) beside the program so "
                       "that one set satisfies all of them.",
         .patterns = {"requirements contradict each other: *",
                      "Cannot install * because these package versions have conflicting dependencies",
                      "ResolutionImpossible*", "Because *"}},
    Rule{.name = "package_not_an_archive",
         .meaning = "a file of packageUris is no Python package",
         .summary = "The package{package} is a Python file, and not a package.",
         .advice =
             "Send its directory as a package (gcloud: --package-path, with an __init__.py), or run the "
             "file as it is: 'trainyard run FILE.py'.",
         .patterns = {"Invalid requirement: '*.py'"}},
    Rule{.name = "package_not_an_archive",
         .summary = "The package{package} cannot be read: {1}.",
         .advice = "Build it with 'python setup.py sdist' or bdist_wheel and upload it again; a download "
                   "that was cut "
                   "looks like this too.",
         .patterns = {"tarfile.ReadError: *", "zipfile.BadZipFile: *", "Cannot unpack file *",
                      "is not a * file", "* does not appear to be a Python project", "Invalid wheel*",
                      "has an invalid wheel*", "not a supported wheel*"}},
    Rule{.name = "package_build_failed",
         .meaning = "setup.py of a package or of one that it needs failed",
         .summary = "setup.py{package} runs a package manager of the system, which cannot install anything "
                    "while a package is built ({message}).",
         .advice = "Install the Debian packages on the machine (of a cluster: on its nodes) and take the "
                   "commands out of setup.py, or use an image that has them.",
         .patterns = {"cannot be built: *apt-get*", "cannot be built: *'apt'*", "cannot be built: *'sudo'*",
                      "cannot be built: *apt install*", "cannot be built: *dpkg*",
                      "cannot be built: *'yum'*"}},
    Rule{.name = "package_build_failed",
         .summary = "setup.py{package} reads the file '{3}', which is not in the package.",
         .advice = "Add a line for it to MANIFEST.in beside setup.py ('include {3}') and build the package "
                   "again.",
         .patterns = {"cannot be built: FileNotFoundError: *pip-req-build-*/*'"},
         .applies = IsOwnBuild},
    Rule{.name = "package_build_failed",
         .summary = "setup.py{package} reads the file '{2}', which is not in the package.",
         .advice = "Add a line for it to MANIFEST.in beside setup.py ('include {2}') and build the package "
                   "again.",
         .patterns = {"cannot be built: FileNotFoundError: *directory: '*'"},
         .applies = ReadsFile},
    Rule{.name = "package_build_failed",
         .summary = "setup.py{package} imports '{1}', which is not installed while the package is built.",
         .advice = "Name it in pyproject.toml beside setup.py ([build-system] requires = [\"setuptools\", "
                   "\"{1}\"]), or do not import it in setup.py.",
         .patterns = {"cannot be built: ModuleNotFoundError: No module named '*'"},
         .applies = IsOwnBuild},
    Rule{.name = "package_build_failed",
         .summary = "The requirement '{1}'{package} has no wheel for this Python, and cannot be built: {2}.",
         .advice = "In install_requires of setup.py, require a version of {1} that has a wheel for this "
                   "runtime version's Python, or any version.",
         .run_advice = "In requirements.txt (or pyproject.toml) beside the program, require a version of {1} "
                       "that has a wheel for this runtime version's Python, or any version.",
         .patterns = {"the package * cannot be built: *"},
         .applies = IsRequirementsBuild},
    Rule{.name = "package_build_failed",
         .summary = "The package{package} cannot be built: {1}.",
         .advice = "Look at setup.py: the replica's last lines have the whole output. 'pip install' of the "
                   "package with the same version of Python fails there, too.",
         .patterns = {"cannot be built: *"}},
    Rule{.name = "package_unavailable",
         .meaning = "a package could not be downloaded",
         .summary = "A package cannot be downloaded{package}: {message}.",
         .advice = "Upload it again; a package must stay in its bucket until the job has ended.",
         .patterns = {"No such object", "Not Found", "not found in bucket"}},
    Rule{.name = "runtime_unavailable",
         .meaning = "no Python for the runtime version",
         .summary = "The runtime version's Python environment cannot be made: {message}.",
         .advice =
             "Install what is missing, or choose a runtime version that 'trainyard runtimes list' shows as "
             "installed.",
         .patterns = {"ensurepip", "no Python", "python3-venv", "interpreter"}},
    Rule{.name = "program_cannot_start",
         .meaning = "the interpreter or its sandbox could not be started",
         .summary = "The program cannot be started: {message}.",
         .advice = "Look at the replica's last lines; a damaged runtime is built again after 'trainyard "
                   "runtimes remove'.",
         .patterns = {"cannot run *"}},
    Rule{.name = "preparation_failed",
         .meaning = "the environment could not be prepared; the message has the tool's output",
         .summary = "The replica could not be prepared: {message}.",
         .advice = "The replica's last lines have the whole output of the tool that failed."},
};

}  // namespace

std::span<const Rule> PreparationRules() { return kRules; }

}  // namespace trainyard::diagnosis

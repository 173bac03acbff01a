#include "rules/diagnosis/rule.h"

namespace trainyard::diagnosis {
namespace {

bool IsUsageStatus(const Symptoms& seen) {
  constexpr int kUsageError = 2;
  return seen.exit_code == kUsageError;
}

bool IsSibling(const Symptoms& seen) { return seen.import_is_sibling; }
bool HasModule(const Symptoms& seen) { return !seen.python_module.empty(); }
/// A package and the module that it lacks: the quote ends what Python names.
bool IsModulesName(std::span<const std::string_view> captures) {
  return captures.front().find('\'') == std::string_view::npos;
}
bool HasNoModule(const Symptoms& seen) { return seen.python_module.empty(); }

constexpr std::array kRules{
    Rule{.name = "module_not_a_program",
         .meaning = "the module to run is a package without __main__",
         .summary = "'{1}' is a package, not a module that can be run.",
         .advice = "Name the module with the program ('python -m trainer.task'), or add __main__.py to the "
                   "package.",
         .patterns = {"No module named *.__main__; *is a package and cannot be directly executed"},
         .applies = HasNoModule},
    Rule{.name = "module_not_a_program",
         .summary = "pythonModule '{module}' is a package, not a module that can be run.",
         .advice =
             "Name the module with the program, such as trainer.task, or add __main__.py to the package.",
         .patterns = {"is a package and cannot be directly executed"}},
    Rule{.name = "module_missing",
         .meaning = "the module to run is in none of the packages, or not in the image",
         .summary = "The module to run, '{module}', is in none of the job's packages.",
         .advice =
             "Check pythonModule (--module-name); every folder needs an __init__.py and must be found by "
             "find_packages() in setup.py.",
         .patterns = {": No module named {module}",
                      "specification for '{module}' (ModuleNotFoundError: No module named '{top}'",
                      "specification for '{module}' (ModuleNotFoundError: No module named '{top}."},
         .applies = HasModule},
    Rule{.name = "module_missing",
         .summary = "The module to run, '{1}', is not found in the image: {2}.",
         .advice =
             "Check the module of the image's ENTRYPOINT (or containerCommand), that COPY puts its package "
             "below WORKDIR or into PYTHONPATH, and that the image has what the package imports.",
         .patterns = {"specification for '*' (ModuleNotFoundError: *)",
                      "specification for '*' (ImportError: *)"},
         .applies = HasNoModule},
    Rule{.name = "module_missing",
         .summary = "The module to run, '{2}', is not in the image.",
         .advice = "Check the module of the image's ENTRYPOINT (or containerCommand), and that COPY puts its "
                   "package below WORKDIR or into PYTHONPATH.",
         .patterns = {"/python*: No module named *"},
         .applies = HasNoModule},
    Rule{.name = "module_missing",
         .summary = "The program to run, '{1}', is not in the image.",
         .advice = "Check the file in the image's ENTRYPOINT (or containerCommand), and that COPY puts it "
                   "there.",
         .patterns = {": can't open file '*': [Errno 2]"},
         .applies = HasNoModule},
    // Python names only the part that is missing: what is before its dot was found.
    Rule{.name = "import_missing",
         .meaning = "the program imports a module that is not installed",
         .summary = "The program imports '{1}.{2}', but '{1}' is not a package: it is a single file.",
         .advice = "A file of your own with the name of a library hides the library: rename it.",
         .patterns = {"ModuleNotFoundError: No module named '*.*'; '* is not a package"},
         .fits = IsModulesName},
    Rule{.name = "import_missing",
         .summary = "{1} has no module {2}, which the program imports.",
         .advice =
             "{did_you_mean}Check the name, and whether the version of {1} that the job has contains it; "
             "list the program's own modules in packages of setup.py.",
         .run_advice =
             "{did_you_mean}Check the name, and whether the version of {1} that the job has contains "
             "it. A module of your own must be in the program's directory.",
         .image_advice = "{did_you_mean}Check the name, and whether the version of {1} in the image contains "
                         "it.",
         .patterns = {"ModuleNotFoundError: No module named '*.*'"},
         .fits = IsModulesName},
    Rule{.name = "import_missing",
         .summary = "The program imports '{1}', which is a module of its own package.",
         .advice = "Write 'from . import {1}': the program runs as a module of its package, so the package's "
                   "directory is not one where Python looks for modules.",
         .patterns = {"ModuleNotFoundError: No module named '*'", "ImportError: No module named *"},
         .applies = IsSibling},
    Rule{.name = "import_missing",
         .summary = "The program imports '{1}', which is not installed.",
         .advice = "{did_you_mean}Add its package to install_requires of setup.py or to packageUris; list "
                   "the program's own "
                   "modules in packages of setup.py.",
         .run_advice = "{did_you_mean}Add its package to requirements.txt beside the program. A module of "
                       "your own must be "
                       "in the program's directory.",
         .image_advice =
             "{did_you_mean}Install its package in the image, and check that COPY and PYTHONPATH make the "
             "program's own modules visible.",
         .patterns = {"ModuleNotFoundError: No module named '*'", "ImportError: No module named *"}},
    Rule{.name = "library_missing",
         .meaning = "a shared library is not installed",
         .summary = "The shared library '{1}' is not installed.",
         .advice = "Install the system package that contains it on the machine (for pods: in the image of "
                   "--kubernetes-image), or use a Python package that includes it.",
         .patterns = {"ImportError: *: cannot open shared object file",
                      "OSError: *: cannot open shared object file",
                      "error while loading shared libraries: *: cannot open"}},
    Rule{.name = "syntax_error",
         .meaning = "Python cannot parse the program",
         .summary = "The program is not valid for this Python: {line}.",
         .advice = "Run it with the runtime version's Python ('python3 -m compileall'); Python 2 code needs "
                   "a runtime "
                   "version with Python 2.",
         .patterns = {"SyntaxError: *", "IndentationError: *", "TabError: *"}},
    Rule{.name = "bad_arguments",
         .meaning = "the program refused its arguments (status 2)",
         .summary = "The program refused its arguments: {1}.",
         .advice =
             "Compare the job's args with the program's usage; --job-dir is added when the job has a jobDir.",
         .run_advice = "Compare the arguments after the program's name with its usage; with 'run --job-dir' "
                       "the program gets --job-dir, too.",
         .patterns = {": error: *", "Error: *"},
         .applies = IsUsageStatus},
    Rule{.name = "bad_arguments",
         .summary = "The program refused its arguments: {1}.",
         .advice =
             "Compare the job's args with the program's usage; --job-dir is added when the job has a jobDir.",
         .patterns = {"FATAL Flags parsing error: *", "absl.flags._exceptions.*", "UnrecognizedFlagError: *",
                      "UnparsedFlagAccessError: *"}},
    Rule{.name = "keyboard_interrupt",
         .meaning = "KeyboardInterrupt: SIGINT arrived",
         .summary = "The program was interrupted (KeyboardInterrupt).",
         .advice = "Something sent SIGINT to it; Trainyard itself sends SIGTERM only.",
         .patterns = {"KeyboardInterrupt"}},
    Rule{.name = "recursion_limit",
         .meaning = "Python's recursion limit",
         .summary = "The program exceeded Python's recursion limit.",
         .advice = "Look at the traceback for the function that calls itself.",
         .patterns = {"RecursionError:"}},
};

}  // namespace

std::span<const Rule> PythonRules() { return kRules; }

}  // namespace trainyard::diagnosis

#include "cli/run/program_package.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/async/file.h"
#include "cli/gcloud/arguments.h"
#include "cli/run/notebook.h"
#include "cli/run/requirements.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kPyTorch = "pytorch-2.15";
constexpr std::string_view kTensorFlow = "2.15";

/// Names that come with the runtime version, or are of no use without its framework.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFrameworks = {{
    {"torch", kPyTorch},
    {"torchvision", kPyTorch},
    {"torchaudio", kPyTorch},
    {"lightning", kPyTorch},
    {"pytorch_lightning", kPyTorch},
    {"tensorflow", kTensorFlow},
    {"tf_keras", kTensorFlow},
    {"keras", kTensorFlow},
    {"tensorflow_datasets", kTensorFlow},
}};

std::string_view Identifier(std::string_view text) {
  const auto is_part = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
  };
  return text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_part) - text.begin()));
}

void Add(std::string_view name, std::vector<std::string>& names) {
  if (!name.empty() && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

namespace fs = std::filesystem;

/// What a package without a __main__.py is started by; the first is what Google's samples have.
constexpr std::array<std::string_view, 3> kMainModules = {"task", "train", "main"};

std::unexpected<Error> Refuse(std::string message) {
  return std::unexpected(InvalidArgument("", std::move(message)));
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

fs::path Absolute(const fs::path& path) {
  fs::path full = fs::absolute(path).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

Result<std::vector<std::string>> RequirementsIn(const fs::path& folder) {
  if (IsFile(folder / "requirements.txt")) {
    TY_TRY(const std::string text, ReadFile(folder / "requirements.txt"));
    return ReadRequirements("requirements.txt", text,
                            [&](const std::string& path) -> std::optional<std::string> {
                              Result<std::string> other = ReadFile(folder / path);
                              if (!other) return std::nullopt;
                              return *std::move(other);
                            });
  }
  if (!IsFile(folder / "pyproject.toml")) return std::vector<std::string>();
  TY_TRY(const std::string text, ReadFile(folder / "pyproject.toml"));
  return ReadProjectDependencies("pyproject.toml", text);
}

/// The program's own file first, then the other modules.
std::vector<PythonSource> SourcesOf(const std::vector<ProgramFile>& files, const std::string& main) {
  std::vector<PythonSource> sources;
  for (const ProgramFile& file : files) {
    if (!file.path.ends_with(".py")) continue;
    const auto place = file.path == main ? sources.begin() : sources.end();
    sources.insert(place, {file.path, file.bytes});
  }
  return sources;
}

std::string_view FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash + 1);
}

/// Whether one of the source's imports may be of that file: of a module or package of that name, in the
/// program's folder or beside the source; a relative import, of any file beside it.
bool MayImport(const PythonSource& source, const std::vector<std::string>& names, std::string_view path) {
  const std::string_view folder = FolderOf(source.path);
  const bool is_relative = source.text.find("from .") != std::string::npos;
  if (is_relative && path.starts_with(folder)) return true;
  return std::ranges::any_of(names, [&](const std::string& name) {
    const auto is_of_name = [&name](std::string_view place) {
      return place == name + ".py" || place.starts_with(name + "/");
    };
    return is_of_name(path) || (path.starts_with(folder) && is_of_name(path.substr(folder.size())));
  });
}

/// Everything but the command.
Result<LocalProgram> Read(const CollectOptions& options, std::string name, const std::string& main) {
  LocalProgram program{
      .name = std::move(name), .package = {}, .sources = {}, .left_behind = {}, .skipped = {}};
  TY_TRY(CollectedFiles collected, CollectFiles(options));
  TY_TRY(program.package.requirements, RequirementsIn(options.folder));
  program.sources = SourcesOf(collected.files, main);
  program.package.files = std::move(collected.files);
  program.left_behind = std::move(collected.left_behind);
  program.skipped = std::move(collected.skipped);
  return program;
}

Result<LocalProgram> ReadScript(const fs::path& script) {
  const std::string name = script.filename();
  TY_TRY(LocalProgram program,
         Read({.folder = script.parent_path(), .only_data_of = {}}, script.stem(), name));
  if (program.sources.empty() || program.sources.front().path != name)
    return Refuse("the program " + name + " cannot be read");
  program.package.command = {name};
  return program;
}

/// The notebook comes along as the script that its cells are.
Result<LocalProgram> ReadNotebookFile(const fs::path& path) {
  TY_TRY(const std::string json, ReadFile(path));
  Result<NotebookScript> script = ReadNotebook(json);
  if (!script) return Refuse(path.filename().string() + ": " + script.error().message);
  TY_TRY(LocalProgram program, Read({.folder = path.parent_path(), .only_data_of = {}}, path.stem(), ""));
  std::vector<ProgramFile>& files = program.package.files;
  for (ProgramFile& file : NotebookFiles(path.filename(), json, *script)) {
    std::erase_if(files, [&file](const ProgramFile& other) { return other.path == file.path; });
    files.push_back(std::move(file));
  }
  program.sources.insert(program.sources.begin(), {path.filename(), script->source});
  for (std::string& requirement : script->requirements)
    program.package.requirements.push_back(std::move(requirement));
  program.package.command = {std::string(kNotebookProgram)};
  return program;
}

Result<LocalProgram> ReadModule(const fs::path& folder, const std::string& module) {
  const std::string top = module.substr(0, module.find('.'));
  const bool is_file = IsFile(folder / (top + ".py"));
  if (!is_file && !IsFolder(folder / top))
    return Refuse("there is no module " + top + " in " + folder.string() + " (the current folder)");
  std::string path = module;
  std::ranges::replace(path, '.', '/');
  path += IsFolder(folder / path) ? "/__main__.py" : ".py";
  const std::string last = module.substr(module.rfind('.') + 1);
  TY_TRY(LocalProgram program, Read({.folder = folder, .only_data_of = is_file ? top + ".py" : top},
                                    last == "__main__" ? top : last, path));
  program.package.command = {"-m", module};
  return program;
}

/// A package is started by its name from the folder that it is in; any other folder is where the program is.
Result<LocalProgram> ReadFolder(const fs::path& folder) {
  const std::string name = folder.filename();
  if (!IsFile(folder / "__init__.py")) {
    if (!IsFile(folder / "__main__.py"))
      return Refuse("the folder " + name +
                    " has no __main__.py and is not a package: specify the file to run, " + name +
                    "/train.py");
    TY_TRY(LocalProgram program, Read({.folder = folder, .only_data_of = {}}, name, "__main__.py"));
    program.package.command = {"."};
    return program;
  }
  if (IsFile(folder / "__main__.py")) return ReadModule(folder.parent_path(), name);
  for (const std::string_view module : kMainModules) {
    if (!IsFile(folder / (std::string(module) + ".py"))) continue;
    TY_TRY(LocalProgram program, ReadModule(folder.parent_path(), name + "." + std::string(module)));
    program.name = name;
    return program;
  }
  return Refuse("the package " + name +
                " has no __main__.py, task.py, train.py or main.py: specify the module to run with -m " +
                name + ".MODULE");
}

}  // namespace

std::vector<std::string> ImportedModules(std::string_view source) {
  std::vector<std::string> names;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = TrimSpace(source.substr(0, end));
    source.remove_prefix(std::min(end + 1, source.size()));
    if (line.starts_with("from ")) {
      Add(Identifier(TrimSpace(line.substr(5))), names);
    } else if (line.starts_with("import ")) {
      line = line.substr(7, line.find('#') - 7);
      for (;;) {  // "import os, torch.nn as nn"
        Add(Identifier(TrimSpace(line)), names);
        const std::size_t comma = line.find(',');
        if (comma == std::string_view::npos) break;
        line.remove_prefix(comma + 1);
      }
    }
  }
  return names;
}

RuntimeGuess GuessRuntime(const std::vector<PythonSource>& sources) {
  std::vector<std::size_t> reached;
  if (!sources.empty()) reached.push_back(0);
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const PythonSource& source = sources[reached[at]];
    const std::vector<std::string> names = ImportedModules(source.text);
    for (const std::string& name : names) {
      const auto known =
          std::ranges::find(kFrameworks, name, &std::pair<std::string_view, std::string_view>::first);
      if (known != kFrameworks.end()) return {std::string(known->second), source.path + " imports " + name};
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (std::ranges::find(reached, i) == reached.end() && MayImport(source, names, sources[i].path))
        reached.push_back(i);
    }
  }
  return {"", "the program imports neither PyTorch nor TensorFlow"};
}

Result<LocalProgram> ReadProgram(const std::string& word, std::vector<std::string>& args) {
  if (word == "-m") {
    if (args.empty()) return std::unexpected(UsageError("-m", "expected the name of a module"));
    const std::string module = args.front();
    args.erase(args.begin());
    return ReadModule(Absolute("."), module);
  }
  const fs::path path = Absolute(word);
  if (IsFolder(path)) return ReadFolder(path);
  if (!IsFile(path)) return Refuse("there is no program " + word + ": no such file or folder");
  if (path.extension() == ".ipynb") return ReadNotebookFile(path);
  if (path.extension() == ".py") return ReadScript(path);
  return Refuse(
      word +
      " is neither a Python file (.py) nor a notebook (.ipynb); to run a command of an image, use --image");
}

}  // namespace trainyard::cli

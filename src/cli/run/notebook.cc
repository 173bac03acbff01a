#include "cli/run/notebook.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "cli/gcloud/json_value.h"
#include "cli/notebook_files.h"
#include "cli/run/requirements.h"

namespace trainyard::cli {
namespace {

/// They set up the page or the kernel; a program does without.
constexpr std::array<std::string_view, 8> kPageMagics = {
    "matplotlib", "load_ext", "reload_ext", "autoreload", "config", "precision", "xmode", "colors"};
/// Cells of these are measured or silenced; what is in them runs.
constexpr std::array<std::string_view, 2> kPlainCells = {"time", "capture"};
/// Cells of these only show something.
constexpr std::array<std::string_view, 6> kShownCells = {"html",  "HTML",       "markdown",
                                                         "latex", "javascript", "svg"};
constexpr std::array<std::string_view, 5> kPipSwitches = {"-q", "--quiet", "-U", "--upgrade", "--user"};

constexpr std::string_view kFutureImport = "from __future__ import";

/// What Python is started with, and the script. No module is looked up by the notebook's own name: one
/// called pandas.ipynb imports pandas.
constexpr std::string_view kScriptFile = "trainyard_cells.py";
constexpr std::string_view kCellMark = "# cell ";

constexpr std::string_view kPrelude =
    "try:\n    display\nexcept NameError:\n    def display(*things):\n        print(*things)\n";

template <std::size_t N>
bool IsOneOf(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.empty()) return words;
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// A cell's source is one string or a list of them.
std::string SourceOf(const Json& cell) {
  const Json* source = FindMember(cell, "source");
  if (source == nullptr) return {};
  std::string text = source->text;
  for (const Json& line : source->children) text += line.text;
  return text;
}

/// Whether it looks like the line that begins a cell in the script.
bool IsCellMark(std::string_view line) {
  return line.starts_with(kCellMark) &&
         line.find_first_not_of("0123456789", kCellMark.size()) == std::string_view::npos;
}

class Cell {
 public:
  /// `future` gets the imports from __future__, which have to be a program's first statements.
  Cell(int number, NotebookScript& script, std::string& future)
      : number_(number), script_(script), future_(future) {}

  Status Read(std::string_view source) {
    script_.source += std::string(kCellMark) + std::to_string(number_) + "\n";
    bool first = true;
    while (!source.empty()) {
      const std::size_t end = std::min(source.find('\n'), source.size());
      std::string_view line = source.substr(0, end);
      source.remove_prefix(std::min(end + 1, source.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (first && line.starts_with("%%")) {
        const std::vector<std::string_view> words = Words(line.substr(2));
        const std::string_view name = words.empty() ? std::string_view() : words.front();
        if (IsOneOf(kShownCells, name)) return {};
        if (!IsOneOf(kPlainCells, name)) return Refuse(line);
        script_.source += '\n';  // so that lines are numbered as on the page
        first = false;
        continue;
      }
      if (!line.empty()) first = false;
      TY_RETURN_IF_ERROR(Line(line));
    }
    return {};
  }

 private:
  std::unexpected<Error> Refuse(std::string_view line) const {
    return std::unexpected(
        InvalidArgument("", "cell " + std::to_string(number_) + " has `" + std::string(line) +
                                "`, which only works in a notebook. Remove the line, or write it in Python"));
  }

  Status Line(std::string_view line) {
    if (in_future_ || line.starts_with(kFutureImport)) {
      Future(line);
      return {};
    }
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    const std::string_view text = line.substr(indent);
    const auto keep = [&](std::string_view code) {
      script_.source.append(line.substr(0, indent)).append(code);
      script_.source.append(IsCellMark(line) ? " \n" : "\n");
    };
    const bool is_magic = text.size() > 1 && text[0] == '%' && text[1] >= 'a' && text[1] <= 'z';
    if (text.starts_with('!')) return Pip(text.substr(1), text, keep);
    if (is_magic) {
      const std::vector<std::string_view> words = Words(text.substr(1));
      if (words.front() == "pip") return Pip(text.substr(1), text, keep);
      if (words.front() == "time") {
        keep(text.substr(std::min(text.find_first_not_of(" \t", 5), text.size())));
        return {};
      }
      if (!IsOneOf(kPageMagics, words.front())) return Refuse(text);
      keep("pass");
      return {};
    }
    if (!text.empty() && (text.front() == '?' || text.ends_with('?')) &&
        text.find(' ') == std::string_view::npos)
      keep("pass");  // help on a name
    else
      keep(text);
    return {};
  }

  /// A line of an import from __future__, which goes on behind a backslash and in parentheses.
  void Future(std::string_view line) {
    const std::size_t comment = std::min(line.find('#'), line.size());
    const std::size_t semicolon = line.find(';');
    const std::size_t end = semicolon < comment ? semicolon : line.size();
    const std::string_view import = line.substr(0, end);
    future_.append(import).append("\n");
    const std::string_view code = import.substr(0, import.find('#'));
    if (code.find('(') != std::string_view::npos) in_parentheses_ = true;
    if (code.find(')') != std::string_view::npos) in_parentheses_ = false;
    in_future_ = in_parentheses_ || code.ends_with('\\');
    line.remove_prefix(std::min(end + 1, line.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    script_.source.append(line).append("\n");
  }

  template <class Keep>
  Status Pip(std::string_view command, std::string_view line, const Keep& keep) {
    const std::vector<std::string_view> words = Words(command);
    if (words.size() < 3 || !words[0].starts_with("pip") || words[1] != "install") return Refuse(line);
    for (std::size_t i = 2; i < words.size(); ++i) {
      std::string_view word = words[i];
      if (IsOneOf(kPipSwitches, word)) continue;
      if (word.starts_with('-') || word.starts_with('.') || word.starts_with('/') ||
          word.find_first_of("|;&$`") != std::string_view::npos)
        return Refuse(line);
      if (word.size() > 1 && (word.front() == '"' || word.front() == '\''))
        word = word.substr(1, word.size() - 1 - (word.back() == word.front() ? 1 : 0));
      std::optional<std::string> named = NamedRequirement(word);
      if (!named) return Refuse(line);
      script_.requirements.push_back(*std::move(named));
    }
    keep("pass");
    return {};
  }

  int number_;
  NotebookScript& script_;
  std::string& future_;
  bool in_future_ = false;
  bool in_parentheses_ = false;
};

}  // namespace

Result<NotebookScript> ReadNotebook(std::string_view json) {
  Result<Json> notebook = wire::ParseJsonTree(json);
  if (!notebook)
    return std::unexpected(
        InvalidArgument("", "this is not a notebook: it is not JSON: " + notebook.error().message));
  const Json* cells = FindMember(*notebook, "cells");
  if (cells == nullptr || cells->kind != Json::Kind::kArray)
    return std::unexpected(
        InvalidArgument("", "this is not a notebook of format 4: it has no list of cells"));
  const std::string language = TextAt(*notebook, "metadata.kernelspec.language");
  if (!language.empty() && language != "python")
    return std::unexpected(InvalidArgument("", "the notebook is written in " + language + ", not in Python"));
  NotebookScript script{.source = std::string(kPrelude), .requirements = {}};
  std::string future;
  int number = 0;
  for (const Json& cell : cells->children) {
    if (TextAt(cell, "cell_type") != "code") continue;
    TY_RETURN_IF_ERROR(Cell(++number, script, future).Read(SourceOf(cell)));
  }
  script.source.insert(0, future);
  if (number == 0) return std::unexpected(InvalidArgument("", "the notebook has no code"));
  return script;
}

std::vector<ProgramFile> NotebookFiles(const std::string& file, std::string_view json,
                                       const NotebookScript& script) {
  return {{.path = std::string(kScriptFile), .bytes = script.source},
          {.path = file, .bytes = std::string(json)},
          {.path = std::string(kNotebookProgram),
           .bytes = std::string(notebook::Files()[0].bytes) + "\n\nif __name__ == \"__main__\":\n    run(" +
                    PrintCompact(JsonString(file)) + ")\n"}};
}

}  // namespace trainyard::cli

#include "cli/run/imports.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainyard::cli {
namespace {

constexpr std::string_view kPyTorch = "pytorch";
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

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin);
}

std::string_view Identifier(std::string_view text) {
  const auto is_part = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
  };
  return text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_part) - text.begin()));
}

void Add(std::string_view name, std::vector<std::string>& names) {
  if (!name.empty() && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

}  // namespace

std::vector<std::string> ImportedModules(std::string_view source) {
  std::vector<std::string> names;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = Trimmed(source.substr(0, end));
    source.remove_prefix(std::min(end + 1, source.size()));
    if (line.starts_with("from ")) {
      Add(Identifier(Trimmed(line.substr(5))), names);
    } else if (line.starts_with("import ")) {
      line = line.substr(7, line.find('#') - 7);
      for (;;) {  // "import os, torch.nn as nn"
        Add(Identifier(Trimmed(line)), names);
        const std::size_t comma = line.find(',');
        if (comma == std::string_view::npos) break;
        line.remove_prefix(comma + 1);
      }
    }
  }
  return names;
}

RuntimeGuess GuessRuntime(const std::vector<PythonSource>& sources) {
  for (const PythonSource& source : sources) {
    for (const std::string& name : ImportedModules(source.text)) {
      const auto known =
          std::ranges::find(kFrameworks, name, &std::pair<std::string_view, std::string_view>::first);
      if (known != kFrameworks.end()) return {std::string(known->second), source.path + " imports " + name};
    }
  }
  return {"", "the program imports neither PyTorch nor TensorFlow"};
}

}  // namespace trainyard::cli

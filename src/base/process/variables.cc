#include "base/process/variables.h"

#include <unistd.h>

#include <string_view>

namespace trainyard {

std::vector<std::string> OwnVariables(const VariableChanges& changes) {
  std::vector<std::string> lines = PrintVariables(changes);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    if (!changes.contains(std::string(line.substr(0, line.find('='))))) lines.emplace_back(line);
  }
  return lines;
}

std::map<std::string, std::string> ReadVariables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    if (const std::size_t equals = line.find('='); equals != std::string_view::npos)
      variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}

std::vector<std::string> PrintVariables(const VariableChanges& changes) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : changes)
    if (value) lines.push_back(name + "=" + *value);
  return lines;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace trainyard

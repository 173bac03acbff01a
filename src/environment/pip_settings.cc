#include "environment/pip_settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/ascii.h"

namespace trainyard::environment {

namespace {

struct Setting {
  std::string_view pip_option;
  std::string_view pip_variable;
  std::string_view uv_variable;
};

constexpr std::array<Setting, 5> kSettings{{
    {"index-url", "PIP_INDEX_URL", "UV_DEFAULT_INDEX"},
    {"extra-index-url", "PIP_EXTRA_INDEX_URL", "UV_INDEX"},
    {"find-links", "PIP_FIND_LINKS", "UV_FIND_LINKS"},
    {"no-index", "PIP_NO_INDEX", "UV_NO_INDEX"},
    {"cert", "PIP_CERT", "SSL_CERT_FILE"},
}};

/// The options of the sections that `pip install` reads; a line that begins with a blank goes on with the one
/// before.
std::map<std::string, std::string> ReadOptions(std::string_view text) {
  std::map<std::string, std::string> options;
  std::string* last = nullptr;
  bool counts = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view content = TrimSpace(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') continue;
    if (content.front() == '[') {
      counts = content == "[global]" || content == "[install]";
      last = nullptr;
    } else if (std::isspace(static_cast<unsigned char>(line.front())) != 0) {
      if (last != nullptr) *last += (last->empty() ? "" : " ") + std::string(content);
    } else if (const std::size_t equals = content.find_first_of("=:");
               counts && equals != std::string_view::npos) {
      last = &options[std::string(TrimSpace(content.substr(0, equals)))];
      *last = TrimSpace(content.substr(equals + 1));
    }
  }
  return options;
}

}  // namespace

std::map<std::string, std::string> UvSettingsFromPip(std::string_view pip_conf,
                                                     const std::map<std::string, std::string>& environment) {
  const std::map<std::string, std::string> options = ReadOptions(pip_conf);
  const auto value = [](const std::map<std::string, std::string>& from, std::string_view name) {
    const auto found = from.find(std::string(name));
    return found == from.end() ? std::optional<std::string>() : found->second;
  };
  std::map<std::string, std::string> settings;
  for (const Setting& setting : kSettings) {
    if (environment.contains(std::string(setting.uv_variable))) continue;
    auto text = value(environment, setting.pip_variable);
    if (!text) text = value(options, setting.pip_option);
    if (text && !text->empty()) settings[std::string(setting.uv_variable)] = *text;
  }
  return settings;
}

}  // namespace trainyard::environment

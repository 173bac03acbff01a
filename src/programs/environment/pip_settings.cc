#include "programs/environment/pip_settings.h"

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

/// The options of the sections that `pip install` reads; a line that begins with a blank continues the
/// previous one.
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

std::map<std::string, std::string> PipVariables(std::string_view pip_conf,
                                                const std::map<std::string, std::string>& environment) {
  std::map<std::string, std::string> variables;
  for (const auto& [option, value] : ReadOptions(pip_conf)) {
    std::string name = "PIP_" + option;
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!value.empty() && !environment.contains(name)) variables[name] = value;
  }
  return variables;
}

bool IsToolSetting(std::string_view variable) {
  constexpr std::array<std::string_view, 16> kNames{
      "PATH",       "LANG",          "LANGUAGE",     "TZ",
      "HTTP_PROXY", "HTTPS_PROXY",   "NO_PROXY",     "ALL_PROXY",
      "FTP_PROXY",  "http_proxy",    "https_proxy",  "no_proxy",
      "all_proxy",  "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"};
  return variable.starts_with("PIP_") || variable.starts_with("UV_") || variable.starts_with("LC_") ||
         variable == "CURL_CA_BUNDLE" || std::ranges::find(kNames, variable) != kNames.end();
}

std::vector<std::string> PathsIn(std::string_view value) {
  constexpr std::string_view kFileUrl = "file://";
  std::vector<std::string> paths;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find_first_of(" \t\n,"), value.size());
    std::string_view word = value.substr(0, end);
    value.remove_prefix(std::min(end + 1, value.size()));
    if (word.starts_with(kFileUrl)) word.remove_prefix(kFileUrl.size());
    if (word.starts_with('/')) paths.emplace_back(word);
  }
  return paths;
}

}  // namespace trainyard::environment

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::environment {

/// uv's variables (UV_DEFAULT_INDEX, UV_INDEX, UV_FIND_LINKS, UV_NO_INDEX, SSL_CERT_FILE) for the package
/// index that pip is configured with. uv does not read pip's configuration, and machines that use a
/// mirror are usually configured for pip only.
///
/// @param pip_conf     text of pip's configuration file; its [global] and [install] sections count
/// @param environment  variables of the process; PIP_* take precedence over the file, and a UV_* that is
/// set over both. Pure.
[[nodiscard]] std::map<std::string, std::string> UvSettingsFromPip(
    std::string_view pip_conf, const std::map<std::string, std::string>& environment);

/// The same configuration as variables of pip (PIP_INDEX_URL, ...), for a pip that must not read files: every
/// option of the [global] and [install] sections that has no variable in `environment`. Pure.
[[nodiscard]] std::map<std::string, std::string> PipVariables(
    std::string_view pip_conf, const std::map<std::string, std::string>& environment);

/// Whether a tool that runs packages' code needs this variable: variables of pip and uv, for proxies and
/// certificates, and the language. Pure.
[[nodiscard]] bool IsToolSetting(std::string_view variable);

/// The absolute paths that a setting's value names, also as file:// URLs. Pure.
[[nodiscard]] std::vector<std::string> PathsIn(std::string_view value);

}  // namespace trainyard::environment

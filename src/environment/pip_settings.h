#pragma once

#include <map>
#include <string>
#include <string_view>

namespace trainyard::environment {

/// uv's variables (UV_DEFAULT_INDEX, UV_INDEX, UV_FIND_LINKS, UV_NO_INDEX, SSL_CERT_FILE) for the package
/// index that pip is configured with. uv does not read pip's configuration, and a machine behind a mirror
/// usually has only that.
///
/// @param pip_conf     text of pip's configuration file; its [global] and [install] sections count
/// @param environment  variables of the process; PIP_* win over the file, and a UV_* that is set wins over
/// all Pure.
[[nodiscard]] std::map<std::string, std::string> UvSettingsFromPip(
    std::string_view pip_conf, const std::map<std::string, std::string>& environment);

}  // namespace trainyard::environment

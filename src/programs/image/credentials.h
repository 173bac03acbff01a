#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Which file has credentials for which registry. Only files of Docker's form, config.json(5) and
/// containers-auth.json(5); only skopeo reads the passwords.
namespace trainyard::image {

/// REGISTRIES/auth.json: what `trainyard registries login` writes.
[[nodiscard]] std::string OwnAuthFile(const std::string& registries_dir);

/// The first file that has credentials for an image (`name` without tag: "docker.io/library/busybox"), or
/// names a program that has: REGISTRIES/auth.json, REGISTRY_AUTH_FILE, DOCKER_CONFIG/config.json or
/// ~/.docker/config.json, ${XDG_RUNTIME_DIR}/containers/auth.json. Empty: none has. Reads this process's
/// variables.
[[nodiscard]] std::string FindAuthFile(const std::string& registries_dir, std::string_view name);

/// Whether an entry of one of these files is for the image: its registry, or a folder there. A store of
/// credentials (`credsStore`), which may have any, is no entry.
[[nodiscard]] bool NamesRegistry(const std::string& registries_dir, std::string_view name);

/// A registry for which a file has credentials. Contains no secrets.
struct KnownRegistry {
  std::string registry;  ///< as the file names it
  std::string user;      ///< empty: a credential helper has it
  std::string file;
};
[[nodiscard]] std::vector<KnownRegistry> KnownRegistries(const std::string& registries_dir);

}  // namespace trainyard::image

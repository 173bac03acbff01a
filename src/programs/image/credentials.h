#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Finds the file with credentials for a registry. Only files in Docker's format, config.json(5) and
/// containers-auth.json(5); only skopeo reads the passwords in them.
namespace trainyard::image {

/// REGISTRIES/auth.json: what `trainyard registries login` writes.
[[nodiscard]] std::string OwnAuthFile(const std::string& registries_dir);

/// The first file that has credentials for an image (`name` without tag: "docker.io/library/busybox"), or
/// names a credential helper for it: REGISTRIES/auth.json, REGISTRY_AUTH_FILE, DOCKER_CONFIG/config.json or
/// ~/.docker/config.json, ${XDG_RUNTIME_DIR}/containers/auth.json. Empty: there is none. Reads this process's
/// environment.
[[nodiscard]] std::string FindAuthFile(const std::string& registries_dir, std::string_view name);

/// Whether one of these files has an entry for the image: its registry, or a path there. A credential store
/// (`credsStore`), which may have credentials for any registry, does not count.
[[nodiscard]] bool NamesRegistry(const std::string& registries_dir, std::string_view name);

/// A registry for which a file has credentials. Contains no secrets.
struct KnownRegistry {
  std::string registry;  ///< as the file names it
  std::string user;      ///< empty: a credential helper has it
  std::string file;
};
[[nodiscard]] std::vector<KnownRegistry> KnownRegistries(const std::string& registries_dir);

}  // namespace trainyard::image

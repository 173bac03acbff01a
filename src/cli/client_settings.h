#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

/// Finds the server and the project: flags, environment, the server's own note, gcloud's properties.
namespace trainyard::cli {

/// A value and where it was set.
struct ClientSetting {
  std::string value;
  std::string source;  ///< "--project", "CLOUDSDK_CORE_PROJECT", "/home/u/.config/gcloud/...", "default"
};

/// The sources of the settings; tests pass their own.
struct SettingSources {
  std::function<std::optional<std::string>(const char* name)> variable;  ///< empty variables count as absent
  std::function<std::optional<std::string>(const std::string& path)>
      read_file;  ///< absent if the file does not exist
  /// Whether a file may be there that this account cannot see, and whose: the owner of the folder that is in
  /// the way, or empty. Null: never.
  std::function<std::string(const std::string& path)> forbidden_by;
};
[[nodiscard]] SettingSources ProcessSettingSources();

/// DATA/run/server.json: written by a running server.
struct ServerNote {
  std::string url;
  std::string tls_url;
  std::string ca_file;
  std::string project;
  long pid = 0;
  bool auth = false;  ///< it asks who its callers are
  std::map<std::string, std::string>
      bucket_dirs;      ///< folders of buckets that are not below the data directory
  std::string lacking;  ///< what its machine does not limit; empty: nothing
  /// What `trainyard with` leads Google's names to; without an address: nothing.
  struct Workstation {
    std::string address;
    int tls_port = 0;
    int plain_port = 0;  ///< 0: there is no metadata server
    std::string ca_bundle;
  } workstation;
};

/// The directory in which gcloud keeps its settings.
[[nodiscard]] std::string GcloudFolder(const SettingSources& sources);

/// TRAINYARD_DATA, or the account's own directory; if no server has run there, that of the installed service,
/// if this account may read it.
[[nodiscard]] std::string DefaultDataDir(const SettingSources& sources);
/// Absent if there is no note or it cannot be parsed.
[[nodiscard]] std::optional<ServerNote> ReadServerNote(const SettingSources& sources,
                                                       const std::string& data_dir);

/// Why the note of a data directory cannot be read, and what to do: a sentence; empty: it can, or there is
/// none.
[[nodiscard]] std::string WhyNoteIsForbidden(const SettingSources& sources, const std::string& data_dir);

/// --server, TRAINYARD_SERVER, the note in the account's own data directory, the last `trainyard auth login`,
/// the note of the installed service, http://127.0.0.1:8470.
[[nodiscard]] ClientSetting FindServer(const SettingSources& sources, const std::optional<std::string>& flag);

/// --project, CLOUDSDK_CORE_PROJECT, the project of the login to `server`, gcloud's core/project,
/// GOOGLE_CLOUD_PROJECT, the note in the data directory, "trainyard". A `configuration` that is named comes
/// before the login.
[[nodiscard]] ClientSetting FindProject(const SettingSources& sources, const std::optional<std::string>& flag,
                                        const std::optional<std::string>& configuration,
                                        const std::string& server);

/// A property of gcloud: CLOUDSDK_SECTION_NAME, else the active configuration's file.
[[nodiscard]] std::optional<ClientSetting> FindProperty(const SettingSources& sources,
                                                        std::string_view section, std::string_view name,
                                                        const std::optional<std::string>& configuration);

/// "[section]\nname = value" as Python's configparser reads it.
[[nodiscard]] std::optional<std::string> IniValue(std::string_view text, std::string_view section,
                                                  std::string_view name);

}  // namespace trainyard::cli

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "cli/gcloud/json_value.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "cli/images/images_commands.h"
#include "cli/terminal_input.h"
#include "programs/image/cache.h"
#include "programs/image/credentials.h"
#include "programs/image/reference.h"
#include "programs/image/skopeo.h"

namespace trainyard::cli {

namespace {

namespace fs = std::filesystem;

Result<std::string> AskUser(const Arguments& arguments, const Console& console) {
  if (auto user = arguments.Value("--username")) return *std::move(user);
  if (::isatty(STDIN_FILENO) == 0)
    return std::unexpected(UsageError(
        "--username", "Must be specified if stdin is not a terminal; the password is then read from stdin."));
  console.Status("Username: ");
  return ReadInput(true);
}

Result<std::string> AskPassword(const Console& console) {
  if (::isatty(STDIN_FILENO) == 0) return ReadInput(false);  // a key file has many lines
  console.Status("Password: ");
  Result<std::string> password = ReadSilentLine();
  console.Status("\n");
  return password;
}

/// "https://gcr.io/" is gcr.io.
std::string RegistryOf(std::string text) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (text.starts_with(scheme)) text.erase(0, scheme.size());
  while (text.ends_with('/')) text.pop_back();
  return text == "index.docker.io" ? "docker.io" : text;
}

}  // namespace

ExitStatus ListRegistries(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  Rows rows{{"REGISTRY", "USERNAME", "FILE"}};
  std::vector<Json> resources;
  for (const image::KnownRegistry& known : image::KnownRegistries(folder.registries)) {
    resources.push_back(JsonObject({{"registry", JsonString(known.registry)},
                                    {"username", JsonString(known.user)},
                                    {"file", JsonString(known.file)}}));
    rows.push_back({known.registry, known.user, known.file});
  }
  session.PrintList(format, rows, resources);
  return 0;
}

ExitStatus LogInToRegistry(const LocalSession& session) {
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  const std::string registry = RegistryOf(session.arguments.positionals.front());
  TY_TRY(const std::string user, AskUser(session.arguments, session.console));
  TY_TRY(const std::string password, AskPassword(session.console));
  TY_RETURN_IF_ERROR(MakePrivateFolder(folder.registries));
  const image::CacheLayout layout(folder.images);
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  TY_TRY(const image::OwnFolder temporary, image::OwnFolder::Make(layout));
  TY_TRY(const image::Skopeo skopeo, image::Skopeo::Find({.temporary = temporary.path()}));
  const image::Reference any{.transport = "docker", .name = registry + "/any", .tag = "latest", .digest = {}};
  image::Sources image_sources = SourcesOf(folder, session.arguments);
  image_sources.auth_file = image::OwnAuthFile(folder.registries);
  const Status logged_in = skopeo.Login(registry, image::AccessTo(image_sources, any), user, password);
  if (!logged_in) return std::unexpected(logged_in.error());
  ::chmod(image_sources.auth_file.c_str(), 0600);
  session.console.Status("Logged in to " + registry + " as " + user +
                         ". Jobs of this data directory can pull from it.\n");
  return 0;
}

ExitStatus LogOutOfRegistry(const LocalSession& session) {
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  const std::string registry = RegistryOf(session.arguments.positionals.front());
  const std::string own = image::OwnAuthFile(folder.registries);
  bool known = false;
  for (const image::KnownRegistry& other : image::KnownRegistries(folder.registries))
    known |= other.registry == registry && other.file == own;
  if (!known)
    return std::unexpected(NotFound("You are not logged in to [" + registry +
                                    "]. To list the logins: trainyard registries list"));
  const image::CacheLayout layout(folder.images);
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  TY_TRY(const image::OwnFolder temporary, image::OwnFolder::Make(layout));
  TY_TRY(const image::Skopeo skopeo, image::Skopeo::Find({.temporary = temporary.path()}));
  const Status logged_out = skopeo.Logout(registry, own);
  if (!logged_out) return std::unexpected(logged_out.error());
  session.console.Status("Logged out of " + registry + ".\n");
  return 0;
}

}  // namespace trainyard::cli

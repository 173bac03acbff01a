#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/wire/json.h"
#include "cli/client_settings.h"
#include "cli/gcloud/arguments.h"
#include "cli/gcloud/json_value.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "cli/images/images_commands.h"
#include "cli/local/local_commands.h"
#include "engine/local/machine.h"
#include "programs/environment/build_folder.h"
#include "programs/environment/built_runtime.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/image_python.h"
#include "programs/environment/layout.h"
#include "programs/environment/python_probe.h"
#include "programs/environment/runtime_builder.h"
#include "programs/environment/site_hook.h"
#include "programs/image/cache.h"
#include "programs/image/image.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

/// In the place of a version: the downloads that builds share.
constexpr std::string_view kCache = "cache";

/// --data or the default, absolute.
fs::path FindDataDir(const Arguments& arguments, const SettingSources& sources) {
  return fs::absolute(arguments.Value("--data").value_or(DefaultDataDir(sources))).lexically_normal();
}

/// Its folder of environments, absolute and without links.
fs::path FindEnvironmentsDir(const Arguments& arguments, const SettingSources& sources) {
  // Without links, as in the server: scripts of an environment contain this path of their interpreter.
  const fs::path folder = FindDataDir(arguments, sources) / "environments";
  std::error_code error;
  const fs::path resolved = fs::canonical(folder, error);
  return error ? folder : resolved;
}

/// Asks a running server for its runtimes. Returns nothing if no server answers or it is too old to know the
/// request.
Result<std::optional<Json>> AskServer(const CommandSession& session) {
  const ApiRequest request{.method = ApiRequest::Method::kGet, .path = "/trainyard/v1/runtimes"};
  const Result<ApiResponse> answer = session.client.Send(request);
  const bool is_named = session.server.source == "--server";
  if (!answer && answer.error().code == Code::kUnavailable && !is_named) return std::nullopt;
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 404 && !is_named) return std::nullopt;  // a server of before this question
  if (answer->status >= 400) return std::unexpected(Error{Code::kUnknown, ErrorText(*answer), ""});
  return wire::ParseJsonTree(answer->body);
}

/// The same list, made here.
Result<Json> LookIntoFolder(const Arguments& arguments, const SettingSources& sources) {
  const fs::path environments = FindEnvironmentsDir(arguments, sources);
  TY_TRY(const environment::Catalogue catalogue, environment::Catalogue::Load(environments));
  const control::v1::RuntimeList list = environment::ListRuntimes(
      environments, catalogue, environment::kDefaultRuntimeVersion, environment::ProbePythons(environments));
  return wire::ParseJsonTree(wire::PrintJson(list));
}

/// A list, and what the machine of the server that made it does not limit.
struct RuntimeListing {
  Json list;
  std::string lacking;
};

/// The server's answer; nothing: there is no server to ask.
Result<std::optional<RuntimeListing>> FindServed(const LocalSession& session,
                                                 const std::optional<ServerNote>& note) {
  // A data directory that is named and has no server: another one's server has other runtimes.
  if (session.arguments.Has("--data") && !session.arguments.Has("--server") && !note) return std::nullopt;
  TY_TRY(const ClientSession opened, OpenSession(session, "trainyard"));
  TY_TRY(std::optional<Json> list, AskServer(opened.session));
  if (!list) return std::nullopt;
  const bool is_noted = note && note->url == opened.session.server.value;
  return RuntimeListing{*std::move(list), is_noted ? note->lacking : ""};
}

Result<RuntimeListing> FindRuntimes(const LocalSession& session) {
  const std::string data_dir = FindDataDir(session.arguments, session.sources).string();
  TY_TRY(std::optional<RuntimeListing> served,
         FindServed(session, ReadServerNote(session.sources, data_dir)));
  if (served) return *std::move(served);
  if (const std::string forbidden = WhyNoteIsForbidden(session.sources, data_dir); !forbidden.empty())
    return std::unexpected(Error{Code::kPermissionDenied, forbidden, ""});
  TY_TRY(Json list, LookIntoFolder(session.arguments, session.sources));
  session.console.Status("No server answers, so these are the runtime versions of the data directory " +
                         data_dir + ".\n");
  return RuntimeListing{std::move(list), ""};
}

std::string Joined(const Json* words) {
  std::string joined;
  if (words == nullptr) return joined;
  for (const Json& word : words->children) joined += (joined.empty() ? "" : ",") + word.text;
  return joined;
}

std::string BytesText(const std::string& number) {
  return image::PrintBytes(std::strtoll(number.c_str(), nullptr, 10));
}

/// The warm interpreters of the server; null: it has none.
std::string WarmText(const Json* warm) {
  if (warm == nullptr) return {};
  constexpr std::size_t kShownMax = 4;
  std::string names;
  std::size_t count = 0;
  if (const Json* packages = FindMember(*warm, "packages"); packages != nullptr) {
    count = packages->children.size();
    for (std::size_t i = 0; i < std::min(count, kShownMax); ++i)
      names += (names.empty() ? "" : ",") + packages->children[i].text;
  }
  if (count > kShownMax) names += " and " + std::to_string(count - kShownMax) + " more";
  if (names.empty()) names = "Python";
  const std::string served = TextAt(*warm, "served");
  return ", warm: " + names + " in " + BytesText(TextAt(*warm, "bytes")) + " since " +
         LocalTime(TextAt(*warm, "since"), kDateFormat) + " for " + (served.empty() ? "0" : served) +
         " programs";
}

std::vector<std::string> RowOf(const Json& runtime) {
  const std::string python = TextAt(runtime, "python");
  const std::string size = TextAt(runtime, "sizeBytes");
  const std::string used = TextAt(runtime, "lastUse");
  const bool is_default = TextAt(runtime, "isDefault") == "true";
  return {
      TextAt(runtime, "version"), python.empty() ? Joined(FindMember(runtime, "pythons")) : python,
      size.empty() ? "" : BytesText(size), used.empty() ? "" : LocalTime(used, kDateFormat),
      TextAt(runtime, "state") + (is_default ? " (default)" : "") + WarmText(FindMember(runtime, "warm"))};
}

using environment::AvailablePythons;
using environment::RuntimeVersion;

/// A runtime version or a tool.
Result<RuntimeVersion> Load(const fs::path& environments, const std::string& name) {
  auto runtime = environment::LoadRuntimeVersion(environments, name);
  if (runtime || runtime.error().code != Code::kNotFound) return runtime;
  if (auto tool = environment::LoadTool(environments, name)) return tool;
  return std::unexpected(
      NotFound("There is no runtime version [" + name + "]. To list the versions: trainyard runtimes list"));
}

constexpr std::chrono::minutes kResolveTimeout{2};

/// The image, pulled into the data directory as a job's would be.
Result<environment::PythonImage> PullImage(const std::string& name, const Arguments& arguments,
                                           const SettingSources& sources,
                                           const environment::PreparationHooks& hooks) {
  const image::Sources image_sources = SourcesOf(FindImagesFolder(arguments, sources), arguments);
  TY_TRY(const image::ResolvedImage resolved, image::ResolveImage(image_sources, name, kResolveTimeout));
  TY_TRY(image::Image pulled, image::PullImage(image_sources, resolved, {.info = hooks.info}));
  environment::PythonImage python{.name = name,
                                  .digest = std::move(pulled.digest),
                                  .layers = {pulled.layers.begin(), pulled.layers.end()},
                                  .search_path = {}};
  constexpr std::string_view kPath = "PATH=";
  for (const std::string& variable : pulled.config.environment) {
    if (!variable.starts_with(kPath)) continue;
    std::istringstream folders(variable.substr(kPath.size()));
    for (std::string folder; std::getline(folders, folder, ':');) python.search_path.emplace_back(folder);
  }
  return python;
}

/// What jobs that name it get, for a message.
std::string Instead(const fs::path& environments, const RuntimeVersion& runtime,
                    const AvailablePythons& available) {
  const auto catalogue = environment::Catalogue::Load(environments);
  if (!catalogue || catalogue->Find(runtime.version) == nullptr) return {};
  const auto nearest =
      catalogue->Resolve(runtime.version, {}, environment::FallbackPolicy::kNearest, available);
  return nearest ? ". Jobs that request it run with runtime version " + nearest->version + " (Python " +
                       nearest->python + ")"
                 : std::string();
}

/// The Python that a version needs: from an image if one is named, else through uv. Nothing can install
/// packages of the system.
Status EnsurePython(const fs::path& environments, const RuntimeVersion& runtime, const Arguments& arguments,
                    const SettingSources& sources, const environment::PreparationHooks& hooks) {
  const AvailablePythons available = environment::ProbePythons(environments);
  const std::string missing = environment::MissingFor(runtime, available);
  const auto image = arguments.Value("--from-image");
  if (missing.empty()) {
    if (image)
      hooks.info("The image is not used: this machine already has a Python for " + runtime.version + ".");
    return {};
  }
  const std::string needs = runtime.version + " needs " + missing;
  const std::string command = environment::CommandFor(runtime);
  if (command.empty())
    return std::unexpected(FailedPrecondition(needs + Instead(environments, runtime, available) + "."));
  std::vector<std::string> wanted = runtime.pythons;
  std::erase_if(wanted, [](const std::string& python) {
    return environment::ParseMajorMinor(python) < environment::kPythonMin;
  });
  if (image) {
    TY_TRY(const environment::PythonImage python, PullImage(std::string(*image), arguments, sources, hooks));
    return environment::TakePythonFromImage({environments}, python, wanted, hooks);
  }
  const Status had = environment::DownloadPython(environments, wanted.back(), hooks);
  if (had) return {};
  return std::unexpected(Error{had.error().code,
                               needs + ", and it cannot be downloaded: " + had.error().message +
                                   ". Take it from a container image: " + command,
                               {}});
}

}  // namespace

ExitStatus ListRuntimes(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  TY_TRY(const RuntimeListing listing, FindRuntimes(session));
  const std::vector<Json>& runtimes = ListAt(listing.list, "runtimes");
  Rows rows{{"VERSION", "PYTHON", "SIZE", "LAST_USE", "STATE"}};
  for (const Json& runtime : runtimes) rows.push_back(RowOf(runtime));
  if (const std::string used = TextAt(listing.list, "cacheLastUse"); !used.empty())
    rows.push_back({std::string(kCache), "", BytesText(TextAt(listing.list, "cacheBytes")),
                    LocalTime(used, kDateFormat), "downloads, for the next build"});
  if (const std::string bytes = TextAt(listing.list, "pythonsBytes"); !bytes.empty())
    rows.push_back({"pythons", "", BytesText(bytes), "", "downloaded, for the versions above"});
  session.PrintList(format, rows, runtimes);
  if (!listing.lacking.empty() && format.kind == OutputFormat::Kind::kDefault)
    session.console.Warn(listing.lacking + ".");
  return 0;
}

ExitStatus DescribeRuntime(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const fs::path environments = FindEnvironmentsDir(session.arguments, session.sources);
  TY_TRY(const RuntimeVersion runtime, Load(environments, session.arguments.positionals.front()));
  const control::v1::Runtime shown =
      environment::DescribeRuntime(environments, runtime, environment::ProbePythons(environments));
  TY_TRY(Json json, wire::ParseJsonTree(wire::PrintJson(shown)));
  SetMember(json, "locked", JsonBool(runtime.locked));
  SetMember(json, "packages", JsonArray(runtime.packages));
  if (!runtime.tools.empty()) SetMember(json, "tools", JsonArray(runtime.tools));
  session.console.Out(PrintResource(Sorted(json), format));
  return 0;
}

ExitStatus InstallRuntime(const LocalSession& session) {
  const fs::path environments = FindEnvironmentsDir(session.arguments, session.sources);
  TY_TRY(const RuntimeVersion runtime, Load(environments, session.arguments.positionals.front()));
  const environment::Layout layout{environments};
  const auto say = [&](std::string_view line) { session.console.Status(std::string(line) + "\n"); };
  if (environment::IsComplete(layout.Runtime(runtime))) {
    say(runtime.version + " is already installed.");
    return 0;
  }
  TY_RETURN_IF_ERROR(MakeFolders(environments.parent_path(), 0700));  // the data directory
  TY_RETURN_IF_ERROR(MakeFolders(environments));
  const engine::BuildTools tools =
      engine::FindBuildTools({FindDataDir(session.arguments, session.sources).string()});
  if (!tools.missing.empty()) say(tools.missing);
  const environment::PreparationHooks hooks{
      .info = say, .error = say, .download = {}, .isolation = tools.isolation.get()};
  TY_RETURN_IF_ERROR(EnsurePython(environments, runtime, session.arguments, session.sources, hooks));
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(environments));
  TY_RETURN_IF_ERROR(environment::BuildRuntime(layout, runtime, hooks));
  return 0;
}

ExitStatus RemoveRuntime(const LocalSession& session) {
  const fs::path environments = FindEnvironmentsDir(session.arguments, session.sources);
  if (session.arguments.positionals.front() == kCache) {
    TY_TRY(const std::uint64_t bytes, environment::RemoveDownloadCache(environments));
    session.console.Status("Removed the cache of downloads (" +
                           image::PrintBytes(static_cast<std::int64_t>(bytes)) + ").\n");
    return 0;
  }
  TY_TRY(const RuntimeVersion runtime, Load(environments, session.arguments.positionals.front()));
  TY_TRY(const std::uint64_t bytes, environment::RemoveBuilt(environments, runtime));
  session.console.Status("Removed " + runtime.version + " (" +
                         image::PrintBytes(static_cast<std::int64_t>(bytes)) + ").\n");
  if (environment::DownloadCacheUse(environments))
    session.console.Status(
        "Its downloads are still among those that builds share (" +
        image::PrintBytes(static_cast<std::int64_t>(environment::DownloadCacheBytes(environments))) +
        "). To remove them: trainyard runtimes remove cache\n");
  return 0;
}

}  // namespace trainyard::cli

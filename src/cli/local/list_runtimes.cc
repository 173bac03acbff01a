#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/wire/json.h"
#include "cli/gcloud/json_value.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "cli/local/local_commands.h"
#include "cli/local/runtimes_folder.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/python_probe.h"
#include "programs/environment/runtime_list.h"
#include "programs/image/cache.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

/// What a running server says; nothing: none answers, or it does not know the question.
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
struct Seen {
  Json list;
  std::string lacking;
};

/// The server's answer; nothing: there is no server to ask.
Result<std::optional<Seen>> FindServed(const LocalSession& session, const std::optional<ServerNote>& note) {
  // A data directory that is named and has no server: another one's server has other runtimes.
  if (session.arguments.Has("--data") && !session.arguments.Has("--server") && !note) return std::nullopt;
  TY_TRY(const OpenedSession opened, OpenSession(session, "trainyard"));
  TY_TRY(std::optional<Json> list, AskServer(opened.session));
  if (!list) return std::nullopt;
  const bool is_noted = note && note->url == opened.session.server.value;
  return Seen{*std::move(list), is_noted ? note->lacking : ""};
}

Result<Seen> FindRuntimes(const LocalSession& session) {
  const std::string data_dir = FindDataDir(session.arguments, session.sources).string();
  TY_TRY(std::optional<Seen> served, FindServed(session, ReadServerNote(session.sources, data_dir)));
  if (served) return *std::move(served);
  if (const std::string forbidden = WhyNoteIsForbidden(session.sources, data_dir); !forbidden.empty())
    return std::unexpected(Error{Code::kPermissionDenied, forbidden, ""});
  TY_TRY(Json list, LookIntoFolder(session.arguments, session.sources));
  session.console.Status("No server says which it has; this is what the data directory " + data_dir +
                         " has.\n");
  return Seen{std::move(list), ""};
}

std::string Joined(const Json* words) {
  std::string joined;
  if (words == nullptr) return joined;
  for (const Json& word : words->children) joined += (joined.empty() ? "" : ",") + word.text;
  return joined;
}

std::vector<std::string> RowOf(const Json& runtime) {
  const std::string python = TextAt(runtime, "python");
  const std::string size = TextAt(runtime, "sizeBytes");
  const std::string used = TextAt(runtime, "lastUse");
  const bool is_default = TextAt(runtime, "isDefault") == "true";
  return {TextAt(runtime, "version"), python.empty() ? Joined(FindMember(runtime, "pythons")) : python,
          size.empty() ? "" : image::PrintBytes(std::strtoll(size.c_str(), nullptr, 10)),
          used.empty() ? "" : LocalTime(used, kDateFormat),
          TextAt(runtime, "state") + (is_default ? " (default)" : "")};
}

}  // namespace

ExitStatus ListRuntimes(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  TY_TRY(const Seen seen, FindRuntimes(session));
  std::vector<Json> runtimes;
  if (const Json* list = FindMember(seen.list, "runtimes")) runtimes = list->children;
  if (format.kind != OutputFormat::Kind::kDefault) {
    session.console.Out(PrintResources(runtimes, format));
    return 0;
  }
  Rows rows{{"VERSION", "PYTHON", "SIZE", "LAST_USE", "STATE"}};
  for (const Json& runtime : runtimes) rows.push_back(RowOf(runtime));
  session.console.Table(rows);
  if (!seen.lacking.empty()) session.console.Warn(seen.lacking + ".");
  return 0;
}

}  // namespace trainyard::cli

#include "api/metadata/metadata_handlers.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <memory>
#include <utility>
#include <vector>

#include "api/console/console_handlers.h"
#include "api/route.h"
#include "base/ascii.h"
#include "control/run/token_service.h"

namespace trainyard::api {

namespace {

namespace json = boost::json;

constexpr std::string_view kAccounts = "instance/service-accounts/";
constexpr int kMovedPermanently = 301;
constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;

/// As Google's: clients only accept an answer with the first field, and the type has no charset.
Response PlainAnswer(std::string body, std::string_view type, int status = 200) {
  Response response = Response::Empty(status);
  response.headers.Set("Content-Type", std::string(type));
  response.headers.Set("Metadata-Flavor", "Google");
  response.headers.Set("Server", "Metadata Server for VM");
  response.body = std::move(body);
  return response;
}

Response Text(std::string body, int status = 200) {
  return PlainAnswer(std::move(body), "application/text", status);
}
Response Json(std::string body) { return PlainAnswer(std::move(body), "application/json"); }

/// Tokens have no characters that JSON must escape.
Response TokenAnswer(const std::string& token) {
  std::string json = R"({"access_token":")";
  json.append(token).append(R"(","expires_in":)").append(std::to_string(control::kAccessTokenLife.count()));
  json.append(R"(,"token_type":"Bearer"})");
  Response response = Json(std::move(json));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

bool IsTokenPath(std::string_view path, std::string_view own_account) {
  if (!path.starts_with(kAccounts)) return false;
  path.remove_prefix(kAccounts.size());
  const std::string_view account = path.substr(0, path.find('/'));
  return (account == "default" || account == own_account) && path.substr(account.size()) == "/token";
}

/// Identifying the caller may require a look at the machine's processes: done only for paths that depend on
/// it. Programs poll the state of their machine once a second.
bool DependsOnInstance(std::string_view path, bool has_accounts) {
  if (path.starts_with(kAccounts.substr(0, kAccounts.size() - 1))) return has_accounts;
  for (const std::string_view same_for_all : {"instance/maintenance-event", "instance/preempted"}) {
    if (path.starts_with(same_for_all)) return false;
  }
  return !path.starts_with("universe");  // the project is that of the job
}

awaitable<Result<Response>> AnswerPath(const MetadataAnswers& answers, Request& request, std::string path) {
  MetadataFacts facts{.project = answers.project,
                      .project_number = 0,
                      .universe_domain = answers.universe_domain,
                      .account = answers.account};
  if (DependsOnInstance(path, answers.has_accounts)) {
    TY_CO_TRY(facts.instance, co_await answers.instance(request));
  }
  if (facts.instance) facts.project = facts.instance->project;
  facts.project_number = answers.number_of(facts.project);
  if (facts.instance && answers.has_accounts) facts.account = facts.instance->service_account;
  if (IsTokenPath(path, facts.account)) {
    TY_CO_TRY(const std::string token, co_await answers.access_token(request));
    co_return TokenAnswer(token);
  }
  // oauth2client writes "True".
  const MetadataQuery query{.recursive = EqualsIgnoringCase(request.Query("recursive"), "true"),
                            .alt = std::string(request.Query("alt"))};
  if (!query.alt.empty() && query.alt != "json" && query.alt != "text")
    co_return Text("alt is json or text\n", kBadRequest);
  const auto page = ReadMetadata(MetadataTree(facts), path, query);
  if (!page) co_return Text("not found\n", kNotFound);
  if (page->is_directory && !request.path.ends_with('/')) {
    Response moved = Text("", kMovedPermanently);
    const std::size_t question = request.target.find('?');
    const std::string rest = question == std::string::npos ? "" : request.target.substr(question);
    moved.headers.Set("Location", request.Origin() + request.path + "/" + rest);
    co_return moved;
  }
  co_return page->is_json ? Json(page->body) : Text(page->body);
}

Result<Response> Root(const MetadataAnswers& answers, Request& request) {
  if (answers.has_console && WantsPage(request)) return GoToConsole();
  return Text("computeMetadata/\n");
}

awaitable<Result<Response>> ReadTop(const MetadataAnswers& answers, Request& request) {
  return AnswerPath(answers, request, "");
}

awaitable<Result<Response>> ReadPath(const MetadataAnswers& answers, Request& request) {
  return AnswerPath(answers, request, request.Parameter("path"));
}

Result<Response> ListVersions(Request&) { return Text("v1/\n"); }

/// Answers as long as the loop runs.
Result<Response> Healthy(Request&) { return Response::Text("ok\n"); }

using iam::Public;

constexpr Where kMetadata = kEverywhere | Where::kMetadataFront;
constexpr Route kRows[] = {
    // Whether the server is up, for programs that start and monitor it: yes or no, without names.
    {Public("GET /healthz"), kEverywhere | Where::kFigures, kBare, kCall<Healthy>},
    // The metadata server has its own rule: the connection identifies the attempt. Other callers get a page.
    {Public("GET /"), kMetadata, kBare, kCall<Root>},
    {Public("GET /computeMetadata/"), kMetadata, kBare, kCall<ListVersions>},
    {Public("GET /computeMetadata/v1"), kMetadata, kBare, kCall<ReadTop>},
    {Public("GET /computeMetadata/v1/"), kMetadata, kBare, kCall<ReadTop>},
    {Public("GET /computeMetadata/v1/{path=**}"), kMetadata, kBare, kCall<ReadPath>},
};

}  // namespace

std::span<const Route> MetadataRoutes() { return kRows; }

namespace {

constexpr std::string_view kScope = "https://www.googleapis.com/auth/cloud-platform";
constexpr std::string_view kAttributes = "attributes";  ///< names in it are the user's, and are not changed

json::object Account(const std::string& email) {
  return {{"aliases", json::array{"default"}},
          {"email", email},
          {"scopes", json::array{kScope}},
          {"token", nullptr}};
}

/// On a TPU's own machine its driver reads these two.
json::object Attributes(const control::Instance& instance) {
  if (!instance.tpu) return {};
  return {{"accelerator-type", instance.tpu->accelerator_type}, {"agent-worker-number", "0"}};
}

/// Contains nothing invented: only data that the replica has, or that is always the same.
json::object InstanceTree(const MetadataFacts& facts) {
  const auto& [project, project_number, universe, instance, account] = facts;
  json::object tree{
      {"maintenance-event", "NONE"},
      {"preempted", "FALSE"},
      {"service-accounts", json::object{{"default", Account(account)}, {account, Account(account)}}}};
  if (!instance) return tree;
  const std::string number = "projects/" + std::to_string(project_number) + "/";
  tree["attributes"] = Attributes(*instance);
  tree["hostname"] = instance->name + "." + instance->zone + ".c." + instance->project + ".internal";
  tree["id"] = instance->id;
  tree["machine-type"] = number + "machineTypes/" + instance->machine_type;
  tree["name"] = instance->name;
  tree["network-interfaces"] =
      json::array{json::object{{"ip", instance->address}, {"network", number + "networks/default"}}};
  tree["zone"] = number + "zones/" + instance->zone;
  return tree;
}

bool IsDirectory(const json::value& value) {
  if (value.is_array()) return !value.as_array().empty() && value.as_array()[0].is_object();
  return value.is_object();
}

/// The entries of a directory, by name, in the order in which Google lists them.
std::vector<std::pair<std::string, const json::value*>> EntriesOf(const json::value& directory) {
  std::vector<std::pair<std::string, const json::value*>> entries;
  if (const json::object* object = directory.if_object()) {
    for (const auto& [name, value] : *object) entries.emplace_back(std::string(name), &value);
  } else {
    for (const json::value& value : directory.as_array())
      entries.emplace_back(std::to_string(entries.size()), &value);
  }
  std::ranges::sort(entries);
  return entries;
}

const json::value* Child(const json::value& directory, std::string_view name) {
  if (!IsDirectory(directory)) return nullptr;
  for (const auto& [entry, value] : EntriesOf(directory)) {
    if (entry == name) return value;
  }
  return nullptr;
}

std::string TextOf(const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  if (!value.is_array()) return json::serialize(value);
  std::string lines;
  for (const json::value& element : value.as_array()) lines += TextOf(element) + "\n";
  return lines;
}

/// "service-accounts" in its JSON form: "serviceAccounts".
std::string CamelCase(std::string_view name) {
  std::string camel;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts_word = name[i] == '-' && i + 1 < name.size();
    camel += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[++i]))) : name[i];
  }
  return camel;
}

json::value Recursive(const json::value& value, bool is_users) {
  if (!IsDirectory(value)) return value;
  if (const json::array* array = value.if_array()) {
    json::array all;
    for (const json::value& element : *array) all.push_back(Recursive(element, false));
    return all;
  }
  json::object all;
  for (const auto& [name, child] : EntriesOf(value)) {
    if (!child->is_null()) all[is_users ? name : CamelCase(name)] = Recursive(*child, name == kAttributes);
  }
  return all;
}

/// "NAME VALUE" for everything below the directory.
std::string RecursiveText(const json::value& directory, const std::string& path) {
  std::string lines;
  for (const auto& [name, child] : EntriesOf(directory)) {
    if (child->is_null()) continue;
    if (IsDirectory(*child)) {
      lines += RecursiveText(*child, path + name + "/");
      continue;
    }
    std::string text = TextOf(*child);
    if (!text.ends_with('\n')) text += '\n';
    lines.append(path).append(name).append(" ").append(text);
  }
  return lines;
}

std::string Listing(const json::value& directory) {
  std::string lines;
  for (const auto& [name, child] : EntriesOf(directory)) lines += name + (IsDirectory(*child) ? "/\n" : "\n");
  return lines;
}

}  // namespace

json::object MetadataTree(const MetadataFacts& facts) {
  return {{"instance", InstanceTree(facts)},
          {"project", json::object{{"attributes", json::object()},
                                   {"numeric-project-id", facts.project_number},
                                   {"project-id", facts.project}}},
          {"universe", json::object{{"universe-domain", facts.universe_domain}}}};
}

std::optional<MetadataPage> ReadMetadata(const json::object& tree, std::string_view path,
                                         const MetadataQuery& query) {
  const json::value root = tree;
  const json::value* found = &root;
  const bool says_directory = path.empty() || path.ends_with('/');
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    found = Child(*found, path.substr(0, end));
    if (found == nullptr) return std::nullopt;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  const bool is_directory = IsDirectory(*found);
  if (found->is_null() || (says_directory && !is_directory)) return std::nullopt;
  const bool recursive = query.recursive && is_directory;
  MetadataPage page{.body = {},
                    .is_json = query.alt.empty() ? recursive : query.alt == "json",
                    .is_directory = is_directory};
  if (page.is_json)
    page.body = json::serialize(Recursive(*found, false));
  else if (recursive)
    page.body = RecursiveText(*found, "");
  else
    page.body = is_directory ? Listing(*found) : TextOf(*found);
  return page;
}

}  // namespace trainyard::api

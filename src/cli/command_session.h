#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/api_client.h"
#include "cli/client_settings.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"
#include "cli/gcloud/json_value.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"

namespace trainyard::cli {

/// The inputs and outputs of a command that needs no server. All references outlive the command; one thread.
struct LocalSession {
  const Arguments& arguments;
  const SettingSources& sources;
  const Console& console;

  /// --format. kInvalidArgument: there is no such format.
  [[nodiscard]] Result<OutputFormat> Format() const { return ParseOutputFormat(arguments.Value("--format")); }
  /// Prints the rows as a table, or the resources in a format that was asked for.
  void PrintList(const OutputFormat& format, const Rows& rows, const std::vector<Json>& resources) const;
};

/// The same, with a server.
struct CommandSession : LocalSession {
  ApiClient& client;
  std::string program;  ///< as the user invoked it: "trainyard", "trainyard ai-platform"
  ClientSetting server;
  ClientSetting project;
  OutputFormat format;
  std::string token{};    ///< that the client sends; empty: none
  std::string ca_file{};  ///< that it trusts; empty: the system's

  /// A command to go on with, for a message: "trainyard jobs describe JOB", with the server and the project
  /// where flags of this command chose them. `words` are those after the program's name.
  [[nodiscard]] std::string CommandLine(std::string_view words) const;
  [[nodiscard]] std::optional<std::string> Property(std::string_view section, std::string_view name) const;
};

/// Said once, when a command begins to wait for a server that it had reached before.
inline constexpr std::string_view kServerAway = "The server cannot be reached. Retrying for 30 seconds.\n";

/// A session with the client that it uses.
struct ClientSession {
  std::unique_ptr<ApiClient> client;
  CommandSession session;
};

/// Finds the server, the project and the token by flags and settings; sends nothing. kInvalidArgument: the
/// server's address is not valid.
[[nodiscard]] Result<ClientSession> OpenSession(const LocalSession& session, std::string program);

/// A command's exit status. An error is printed after "ERROR: (path) ", and the status is 1.
using ExitStatus = Result<int>;

/// Sends a request with `alt=json` and parses the response. A status of 400 or more becomes an Error with
/// gcloud's text: "STATUS: message" and the details as YAML. An empty response is an empty object.
[[nodiscard]] Result<Json> CallJson(ApiClient& client, ApiRequest request);

/// Fetches the pages of a list until there are no more, or `visit` returns false.
[[nodiscard]] Status ForEachPage(ApiClient& client, const ApiRequest& list,
                                 const std::function<bool(const Json& page)>& visit);
[[nodiscard]] Result<Json> PostJson(ApiClient& client, std::string path, const Json& body);

/// The text for a response with status 400 or more.
[[nodiscard]] std::string ErrorText(const ApiResponse& response);

/// A job as the user names it: an id in the session's project, or projects/P/jobs/J.
struct JobReference {
  std::string project;
  std::string job_id;
  [[nodiscard]] std::string Path() const;  ///< "/v1/projects/P/jobs/J", encoded
};
[[nodiscard]] JobReference ParseJobReference(const CommandSession& session, const std::string& text);

/// The server's address with a path.
[[nodiscard]] std::string UrlOf(const CommandSession& session, std::string_view path);

/// The address of the job's page in the console.
[[nodiscard]] std::string PageOf(const CommandSession& session, const JobReference& job);

/// "/v1/projects/P/jobs"
[[nodiscard]] std::string JobsPath(const std::string& project);

}  // namespace trainyard::cli

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "control/intake/instance.h"
#include "net/http/message.h"
#include "rules/cluster/project_number.h"

namespace trainyard::api {

/// The instance of the replica whose program makes the request; nothing: it is not a program of an attempt.
/// An error (the caller cannot be identified now) is the answer to the request.
using AskingInstance = std::function<boost::asio::awaitable<Result<std::optional<control::Instance>>>(
    const http::Request& request)>;

/// The account of programs in replicas, and that of users' own. gcloud keeps an account with the universe in
/// which it met it first, and an earlier version showed users the former one in two universes.
inline constexpr std::string_view kMetadataAccount = "trainyard@localhost";
inline constexpr std::string_view kUsersMetadataAccount = "trainyard-user@localhost";

/// Answers what a Google client asks the metadata server of its machine for: a project, an account and a
/// token that is valid only here, the universe domain under which it then looks for `ml.DOMAIN`, and data
/// about the machine. Paths: spec environment.md section 11, wire.md section 2, access.md section 4. JSON has
/// exactly the type `application/json`, as Google's: google-auth before 2.24 takes any other for text.
/// `wait_for_change` is answered immediately: nothing ever changes.
struct MetadataAnswers {
  std::string project;
  cluster::NumberOf number_of = cluster::HashedNumber;
  std::string universe_domain;  ///< "localhost:PORT" of the TLS listener, or Google's
  /// A new access token for the caller, or the reason why there is none.
  std::function<boost::asio::awaitable<Result<std::string>>(const http::Request& request)> access_token;
  AskingInstance instance;
  bool has_accounts = false;  ///< programs in replicas use their jobs' service accounts; otherwise `account`
  std::string account{kMetadataAccount};
  bool has_console = false;  ///< redirect a browser that opens "/" to it
};

// The contents of Google's metadata server as a tree, and its output formats. Pure: any thread. Source: spec
// access.md section 4; the public page "View and query VM metadata".

struct MetadataFacts {
  std::string project;
  std::int64_t project_number = 0;
  std::string universe_domain;
  std::optional<control::Instance> instance{};  ///< absent: the caller is not in a replica
  std::string account{kMetadataAccount};        ///< e-mail of the account that programs use
};

/// Directories are objects, and arrays of objects; names are as in paths ("service-accounts"). A value that
/// is only made on request (an account's token) is null: it is listed, but has no value here.
[[nodiscard]] boost::json::object MetadataTree(const MetadataFacts& facts);

struct MetadataQuery {
  bool recursive = false;  ///< a directory with everything below it
  std::string alt{};       ///< "json" or "text"; empty: JSON if recursive, otherwise text
};

struct MetadataPage {
  std::string body;
  bool is_json = false;
  bool is_directory = false;  ///< its path ends in '/'
};

/// The page of a path below /computeMetadata/v1/, such as "instance/zone" or "instance/attributes/". Nothing:
/// there is no such page.
[[nodiscard]] std::optional<MetadataPage> ReadMetadata(const boost::json::object& tree, std::string_view path,
                                                       const MetadataQuery& query);

}  // namespace trainyard::api

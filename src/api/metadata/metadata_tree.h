#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "control/intake/instance.h"

/// The contents of Google's metadata server as a tree, and its output formats. Pure: any thread. Source: spec
/// access.md section 4; the public page "View and query VM metadata".
namespace trainyard::api {

inline constexpr std::string_view kMetadataAccount = "trainyard@localhost";

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

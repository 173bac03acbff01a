#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "control/intake/instance.h"

/// What Google's metadata server shows, as a tree, and the forms in which it shows it. Pure: any thread.
/// Source: spec access.md section 4; the public page "View and query VM metadata".
namespace trainyard::api {

inline constexpr std::string_view kMetadataAccount = "trainyard@localhost";

struct MetadataFacts {
  std::string project;
  std::int64_t project_number = 0;
  std::string universe_domain;
  std::optional<control::Instance> instance{};  ///< nothing: no replica asks
  std::string account{kMetadataAccount};        ///< e-mail of the account that programs are
};

/// Directories are objects, and arrays of objects; names are as in paths ("service-accounts"). What is made
/// only when it is asked for (an account's token) is null: it is listed, and has no value.
[[nodiscard]] boost::json::object MetadataTree(const MetadataFacts& facts);

struct MetadataQuery {
  bool recursive = false;  ///< a directory with all below it
  std::string alt{};       ///< "json" or "text"; empty: JSON for what is recursive, else text
};

struct MetadataPage {
  std::string body;
  bool is_json = false;
  bool is_directory = false;  ///< its path ends in '/'
};

/// The page of a path below /computeMetadata/v1/, such as "instance/zone" or "instance/attributes/". Nothing:
/// there is none.
[[nodiscard]] std::optional<MetadataPage> ReadMetadata(const boost::json::object& tree, std::string_view path,
                                                       const MetadataQuery& query);

}  // namespace trainyard::api

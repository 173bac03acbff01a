#pragma once

#include <string>

#include "net/http/message.h"

/// Parses the query parameters of requests for a directory (control/v1/folders.proto). Pure: any thread.
namespace trainyard::api {

/// `prefix`: the common prefix of the directory's objects. It ends in "/", or is empty for the whole bucket;
/// it must be present even then, so that a forgotten parameter does not mean everything. kInvalidArgument
/// with field "prefix".
[[nodiscard]] Result<std::string> ReadFolder(const http::Request& request);

enum class FolderFormat { kZip, kTar };
/// `format`: zip if absent. kInvalidArgument with field "format".
[[nodiscard]] Result<FolderFormat> ReadFolderFormat(const http::Request& request);

/// The directory's own name: "run_1" of "jobs/run_1/", the bucket's for the whole bucket. Safe
/// (SafeFileName).
[[nodiscard]] std::string NameOfFolder(const std::string& bucket, const std::string& prefix);

}  // namespace trainyard::api

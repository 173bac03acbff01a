#pragma once

#include <string>

#include "net/http/message.h"

/// What the query of a request asks of a folder (control/v1/folders.proto). Pure: any thread.
namespace trainyard::api {

/// `prefix`: what the names of the folder's objects begin with. It ends in "/", or is empty for the whole
/// bucket; to be there it has to be even then, so that no forgotten parameter means everything.
/// kInvalidArgument with field "prefix".
[[nodiscard]] Result<std::string> ReadFolder(const http::Request& request);

enum class FolderFormat { kZip, kTar };
/// `format`: zip if absent. kInvalidArgument with field "format".
[[nodiscard]] Result<FolderFormat> ReadFolderFormat(const http::Request& request);

/// The folder's own name: "run_1" of "jobs/run_1/", the bucket's for all of it. Safe (SafeFileName).
[[nodiscard]] std::string NameOfFolder(const std::string& bucket, const std::string& prefix);

}  // namespace trainyard::api

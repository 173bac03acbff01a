#pragma once

#include <boost/asio/thread_pool.hpp>

#include "base/async/unique_fd.h"
#include "net/http/message.h"

namespace trainyard::api::storage_api {

/// Whether the file begins as gzip does. Blocks.
[[nodiscard]] bool BeginsAsGzip(int file);

/// A gzip file's contents, decompressed while they are sent. Several members one after another (what compose
/// makes of gzip objects) are one text. If the file is truncated or malformed, the answer ends before its
/// last chunk.
/// @param files  reads and decompresses; must outlive the answer.
[[nodiscard]] http::StreamBody GunzippedBody(UniqueFd file, boost::asio::thread_pool& files);

}  // namespace trainyard::api::storage_api

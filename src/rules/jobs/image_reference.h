#pragma once

#include <string_view>

#include "base/result.h"

namespace trainyard::jobs {

/// Whether the text names a container image: [DOMAIN[:PORT]/]NAME[:TAG][@DIGEST], in the form that Docker and
/// all registries use, or an image on this machine: oci:PATH[:TAG], oci-archive:PATH, docker-archive:PATH
/// with an absolute path, docker-daemon:NAME, containers-storage:NAME. Google's service accepted only
/// Container Registry; this server accepts every registry.
///
/// @return kInvalidArgument without a field, with a sentence that says what is wrong.
/// Pure: any thread. Source: grammar of the distribution project's reference package;
/// containers-transports(5).
[[nodiscard]] Status CheckImageReference(std::string_view text);

/// Whether a pattern matches an image. '*' matches any characters, slashes too. A pattern without tag and
/// digest matches all tags and digests: "gcr.io/p/training" and "gcr.io/p/training:v1". Pure: any thread.
[[nodiscard]] bool MatchesImage(std::string_view pattern, std::string_view image);

}  // namespace trainyard::jobs

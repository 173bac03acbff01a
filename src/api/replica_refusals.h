#pragma once

#include "http/router.h"

namespace trainyard::api {

/// Answers what the administration's API has and a replica's has not: creating, changing and cancelling jobs,
/// their policies, shells, maintenance, status and figures. kPermissionDenied, with what a replica may do and
/// where the rest is done. Paths that no API has stay kNotFound. Source: docs/adr/0022.
void AddReplicaRefusals(http::Router& router);

}  // namespace trainyard::api

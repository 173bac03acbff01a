#pragma once

#include "api/metadata/metadata_handlers.h"

namespace trainyard::api {

/// projects.locations.nodes of Google's `tpu` v1 API, get and list: what TPUClusterResolver asks for a TPU's
/// name. A program sees the node of its own replica, which TPU_CONFIG names, and no other. It is READY, and
/// has no network endpoint: its chips are the machine's own (docs/accelerators.md). kNotFound in Google's
/// words. Source: the API's discovery document (data/discovery/tpu.v1.json); tensorflow/python/tpu/client.
void AddTpuRoutes(http::Router& router, AskingInstance asking);

}  // namespace trainyard::api

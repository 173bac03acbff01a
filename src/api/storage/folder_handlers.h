#pragma once

#include "net/http/router.h"
#include "stores/storage/buckets.h"

namespace trainyard::api {

/// GET folder:summarize, GET folder:download and DELETE folder below /trainyard/v1/buckets/B
/// (control/v1/folders.proto), with `prefix` (folder_request.h). They ask for storage.objects.list and,
/// beyond that, for storage.objects.get or storage.objects.delete. `buckets` outlives the router. Loop
/// thread.
void AddFolderRoutes(http::Router& router, storage::Buckets& buckets);

}  // namespace trainyard::api

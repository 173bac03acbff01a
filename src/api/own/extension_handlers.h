#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <string>

#include "control/job_service.h"
#include "net/http/router.h"
#include "trainyard/control/v1/runtimes.pb.h"

/// What the administration's port has in addition to Google's APIs, and the refusals of it at the replicas'
/// port. Loop thread only.
namespace trainyard::api {

/// GET /trainyard/v1/projects/P/jobs/J: the extension resource JobStatus (control/v1/status.proto). `jobs`
/// outlives the router.
void AddStatusRoutes(http::Router& router, control::JobService& jobs);

/// DELETE /trainyard/v1/projects/P/jobs/J: removes a job that has ended, with all that is kept of it
/// (JobRemoval::Delete). The answer is an empty object. `jobs` outlives the router.
void AddJobRemovalRoute(http::Router& router, control::JobService& jobs);

/// Who says which runtime versions there are. `list` blocks and is called on `pool`, which outlives the
/// router.
struct RuntimeSource {
  std::function<control::v1::RuntimeList()> list;
  boost::asio::thread_pool& pool;
};

/// GET /trainyard/v1/runtimes: the extension resource RuntimeList (control/v1/runtimes.proto).
void AddRuntimeRoutes(http::Router& router, RuntimeSource source);

/// The replicas' shells: what trainingOutput.webAccessUris points at. A WebSocket
/// (src/replica/shell/session.h); a browser is sent to the page that opens it, any other plain GET is
/// answered with how to open it. Query parameters: token, rows, columns. Where who asks has to log in: `POST
/// ...:shellTicket` is answered with a URI below /trainyard/v1/shells that opens the shell once, for
/// browsers. `clock` outlives the router.
void AddShellRoutes(http::Router& router, control::JobService& jobs, const Clock& clock);

/// Refuses what only the administration's API has: creating, changing and cancelling jobs,
/// their policies, shells, maintenance, status and figures. kPermissionDenied, with a text that says what a
/// replica may do and where to do the rest. Unknown paths stay kNotFound. Source: docs/adr/0022.
void AddReplicaRefusals(http::Router& router);

}  // namespace trainyard::api

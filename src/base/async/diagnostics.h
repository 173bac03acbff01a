#pragma once

#include <string_view>

namespace trainyard {

/// The server's log for the operator, on stderr: one line per event, "2026-11-20T18:02:37.123Z WARNING text";
/// in systemd's journal "<4>WARNING text", because the journal adds the time and reads the priority.
/// Information for a job's user must also go to the job's log.
enum class DiagnosticLevel { kDebug, kInfo, kWarning, kError };

/// Writes one line, whole, even when several threads write. Line ends in `text` are escaped, and control
/// characters are printed as wire::VisibleText does. Any thread.
void Diagnose(DiagnosticLevel level, std::string_view text);

/// Lines below this level are not written; kInfo unless set. Any thread.
void SetDiagnosticLevel(DiagnosticLevel level_min);

}  // namespace trainyard

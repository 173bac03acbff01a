#pragma once

namespace trainyard {

/// Unmaps the pages of this program's code that are mapped so far, for a process that lives long and needs
/// little of what it used at its start. A page that is used again comes from the page cache. Best effort.
void ReleaseProgramPages() noexcept;

}  // namespace trainyard

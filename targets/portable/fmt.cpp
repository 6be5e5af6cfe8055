// The functions of libfmt.so that the command uses, compiled into the command of the wheel: Debian has no static
// library of it, and other systems have no library of that version.
#include <fmt/format-inl.h>

template auto fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref) -> char;
template auto fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref) -> fmt::detail::thousands_sep_result<char>;

/* A shared libbantam exports the declarations between BANTAM_EXPORT_BEGIN and BANTAM_EXPORT_END, nothing else.
   BANTAM_EXPORTS is defined while that library is compiled; a program that uses it needs no definition. */
#ifndef BANTAM_EXPORT_H_
#define BANTAM_EXPORT_H_

#if defined(BANTAM_EXPORTS) && defined(__GNUC__)
#define BANTAM_EXPORT_BEGIN _Pragma("GCC visibility push(default)")
#define BANTAM_EXPORT_END _Pragma("GCC visibility pop")
#else
#define BANTAM_EXPORT_BEGIN
#define BANTAM_EXPORT_END
#endif

#endif /* BANTAM_EXPORT_H_ */

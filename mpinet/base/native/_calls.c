/* Calls native kernels from Python, and rules in Python from native kernels.

   A kernel takes words of 64 bits: an integer is one word, an array is its address and its shape.
   mpinet/base/native/plaincalls.py does the same in Python; tests compare the two. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#if NPY_ABI_VERSION < 0x02000000 /* headers of NumPy 1 */
#define PyDataType_ELSIZE(descr) ((npy_intp)(descr)->elsize)
#define PyDataType_ALIGNMENT(descr) ((npy_intp)(descr)->alignment)
#endif
#ifndef SOURCE
#define SOURCE "unknown" /* mpinet/base/native/build.py gives the checksum of this file */
#endif

_Static_assert(sizeof(void *) == 8, "addresses are words of 64 bits");

enum { MOST_WORDS = 4096, MOST_RESULTS = 64, MOST_GIVEN = 6 };

/* ---- Rules ---- */

typedef struct Record Record;
typedef int64_t (*Call)(void);

struct Record { /* what native code takes for a rule */
    Call call;  /* takes the record and then the rule's words */
    const char *error;
};

typedef struct {
    const char *name, *form; /* i: a number; 1, 2: an array with so many dimensions */
    Call callback;
} Kind;

typedef struct {
    PyObject_HEAD
    Record record;
    const Kind *kind;
    PyObject *function, *name;
    PyArrayObject *seen[MOST_GIVEN]; /* the last array at each place: most calls need it again */
} Rule;

static PyTypeObject *rule_type;

/* Make the place's array show other memory of the same shape, unless Python holds the array. */
static int shows(PyArrayObject *array, void *data, const npy_intp *shape, int nd)
{
    if (!array || PyArray_NDIM(array) != nd || PyArray_TYPE(array) != NPY_INT64
        || (PyArray_FLAGS(array) & (NPY_ARRAY_CARRAY | NPY_ARRAY_OWNDATA)) != NPY_ARRAY_CARRAY
        || memcmp(PyArray_DIMS(array), shape, nd * sizeof *shape))
        return 0;
    if (PyArray_DATA(array) == data)
        return 1;
    if (Py_REFCNT(array) > 1)
        return 0;
    ((PyArrayObject_fields *)array)->data = data;
    return 1;
}

/* Return the array that a rule sees at a place, as a new reference. */
static PyObject *view_of(PyArrayObject **seen, const int64_t *word, int nd)
{
    static int64_t nothing; /* NumPy would allocate for no address */
    void *data = word[0] ? (void *)word[0] : &nothing;
    npy_intp shape[2] = {word[1], nd == 2 ? word[2] : 0};
    if (!shows(*seen, data, shape, nd)) {
        PyObject *made = PyArray_New(&PyArray_Type, nd, shape, NPY_INT64, NULL, data, 0,
                                     NPY_ARRAY_CARRAY, NULL);
        if (!made)
            return NULL;
        PyObject *old = (PyObject *)*seen;
        *seen = (PyArrayObject *)made;
        Py_XDECREF(old);
    }
    Py_INCREF(*seen);
    return (PyObject *)*seen;
}

static int as_word(PyObject *value, int64_t *word)
{
    *word = PyArray_IsScalar(value, Bool) ? PyObject_IsTrue(value) : PyLong_AsLongLong(value);
    return *word == -1 && PyErr_Occurred() ? -1 : 0;
}

static int result_of(const Rule *rule, PyObject *value, int64_t *result)
{
    if (value == Py_None && !strcmp(rule->kind->name, "start_rule")) {
        *result = 0;
        return 0;
    }
    if (!PyIndex_Check(value) && !PyArray_IsScalar(value, Bool)) {
        PyObject *kind = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
        if (kind)
            PyErr_Format(PyExc_TypeError, "a rule must return an integer, not %S", kind);
        Py_XDECREF(kind);
        return -1;
    }
    if (!as_word(value, result))
        return 0;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_SetString(PyExc_OverflowError, "the result of a rule does not fit into 64 bits");
    return -1;
}

/* Call the rule's Python function with the words that native code gave. */
static int64_t called(Record *record, const int64_t *word)
{
    Rule *rule = (Rule *)((char *)record - offsetof(Rule, record));
    PyObject *given[MOST_GIVEN] = {NULL}, *value = NULL;
    int64_t result = INT64_MIN;
    const char *form = rule->kind->form;
    record->error = NULL;
    if (PyErr_Occurred()) { /* the kernel should have ended before */
        record->error = "";
        return INT64_MIN;
    }
    Py_INCREF(rule);
    int at = 0;
    for (; form[at]; at++) {
        int nd = form[at] == 'i' ? 0 : form[at] - '0';
        given[at] = nd ? view_of(&rule->seen[at], word, nd) : PyLong_FromLongLong(*word);
        if (!given[at])
            break;
        word += 1 + nd;
    }
    if (!form[at]) /* the first NULL ends the arguments, the last one is for the longest form */
        value = PyObject_CallFunctionObjArgs(rule->function, given[0], given[1], given[2],
                                             given[3], given[4], given[5], NULL);
    while (at--)
        Py_DECREF(given[at]);
    if (!value || result_of(rule, value, &result)) {
        record->error = "";
        result = INT64_MIN;
    }
    Py_XDECREF(value);
    Py_DECREF(rule);
    return result;
}

typedef int64_t W;
static W with4(Record *rule, W a, W b, W c, W d) { return called(rule, (W[]){a, b, c, d}); }
static W with5(Record *rule, W a, W b, W c, W d, W e) { return called(rule, (W[]){a, b, c, d, e}); }
static W with6(Record *rule, W a, W b, W c, W d, W e, W f)
{
    return called(rule, (W[]){a, b, c, d, e, f});
}
static W with8(Record *rule, W a, W b, W c, W d, W e, W f, W g, W h)
{
    return called(rule, (W[]){a, b, c, d, e, f, g, h});
}
static W with10(Record *rule, W a, W b, W c, W d, W e, W f, W g, W h, W i, W j)
{
    return called(rule, (W[]){a, b, c, d, e, f, g, h, i, j});
}

#define CALL(function) ((Call)(void (*)(void))(function))
static const Kind kinds[] = {
    {"port_rule", "ii1", CALL(with4)},
    {"start_rule", "ii11", CALL(with6)},
    {"decide_rule", "i11", CALL(with5)},
    {"schedule_rule", "iiii1", CALL(with6)},
    {"class_rule", "iiii11", CALL(with8)},
    {"candidates_rule", "iii121", CALL(with10)},
    {"choose_rule", "i1211", CALL(with10)},
    {NULL, NULL, NULL},
};

static PyObject *rule_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *names[] = {"function", "kind", NULL};
    PyObject *function;
    const char *name;
    if (!PyArg_ParseTupleAndKeywords(args, named, "Os", names, &function, &name))
        return NULL;
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "a rule must be callable: %R", function);
    const Kind *kind = kinds;
    while (kind->name && strcmp(kind->name, name))
        kind++;
    if (!kind->name)
        return PyErr_Format(PyExc_ValueError, "there is no kind of rules named '%s'", name);
    Rule *rule = (Rule *)PyType_GenericAlloc(type, 0);
    if (!rule)
        return NULL;
    rule->kind = kind;
    rule->record.call = kind->callback;
    Py_INCREF(function);
    rule->function = function;
    rule->name = PyUnicode_FromString(name);
    if (!rule->name)
        Py_CLEAR(rule);
    return (PyObject *)rule;
}

static int rule_traverse(Rule *rule, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(rule));
    Py_VISIT(rule->function);
    return 0;
}

static int rule_clear(Rule *rule)
{
    Py_CLEAR(rule->function);
    return 0;
}

static void rule_dealloc(Rule *rule)
{
    PyTypeObject *type = Py_TYPE(rule);
    PyObject_GC_UnTrack(rule);
    Py_CLEAR(rule->function);
    Py_CLEAR(rule->name);
    for (int at = 0; at < MOST_GIVEN; at++)
        Py_CLEAR(rule->seen[at]);
    PyObject_GC_Del(rule);
    Py_DECREF(type);
}

static PyObject *rule_address(Rule *rule, void *unused)
{
    (void)unused;
    Call call = rule->record.call;
    return PyLong_FromVoidPtr(call == rule->kind->callback ? NULL : (void *)(intptr_t)call);
}

static int rule_set_address(Rule *rule, PyObject *value, void *unused)
{
    (void)unused;
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "a rule's address cannot be deleted");
        return -1;
    }
    void *address = PyLong_AsVoidPtr(value);
    if (!address && PyErr_Occurred())
        return -1;
    rule->record.call = address ? (Call)(intptr_t)address : rule->kind->callback;
    return 0;
}

static PyObject *rule_record(Rule *rule, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(&rule->record);
}

static PyMemberDef rule_members[] = {
    {"call", T_OBJECT_EX, offsetof(Rule, function), READONLY, "The rule in Python."},
    {"kind", T_OBJECT_EX, offsetof(Rule, name), READONLY, "Name of the rule's signature."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef rule_getset[] = {
    {"address", (getter)rule_address, (setter)rule_set_address,
     "Address of the rule's native code; 0: kernels call Python.", NULL},
    {"record", (getter)rule_record, NULL, "Address of what kernels take for the rule.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot rule_slots[] = {
    {Py_tp_new, (void *)rule_new},           {Py_tp_dealloc, (void *)rule_dealloc},
    {Py_tp_traverse, (void *)rule_traverse}, {Py_tp_clear, (void *)rule_clear},
    {Py_tp_members, rule_members},           {Py_tp_getset, rule_getset},
    {Py_tp_doc, "RuleForm(function, kind): a rule as kernels take it."},
    {0, NULL},
};

static PyType_Spec rule_spec = {
    "mpinet.base.native._calls.RuleForm", sizeof(Rule), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, rule_slots,
};

/* ---- Arguments ---- */

typedef struct {
    char form, kind; /* kind: of an array's elements, as NumPy names it */
    int nd, size;
    PyObject *native; /* the last structured dtype that was checked to be native */
} Param;

typedef int (*Entry)(int64_t *, int64_t *, const char **);

typedef struct {
    Entry entry;
    int params, words, results;
    char result[MOST_RESULTS + 3];
    Param param[];
} Kernel;

typedef struct {
    Kernel *kernel;
    int at; /* number of arguments so far */
    int64_t *word;
} Put;

static PyObject *expected(const Param *param)
{
    switch (param->form) {
    case 'i':
        return PyUnicode_FromString("an integer");
    case 'f':
        return PyUnicode_FromString("a number");
    case 'r':
        return PyUnicode_FromFormat("an aligned native record of %d bytes", param->size);
    case 'R':
        return PyUnicode_FromString("a rule");
    }
    return PyUnicode_FromFormat("an aligned native%s array of %c%d with %d dimensions",
                                param->form == 'A' ? " C-contiguous" : "", param->kind,
                                param->size, param->nd);
}

static PyObject *described(PyObject *value)
{
    if (PyArray_IsScalar(value, Void))
        return PyUnicode_FromFormat("a record of dtype %S", ((PyVoidScalarObject *)value)->descr);
    PyObject *made = NULL;
    if (!PyArray_Check(value)) {
        PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
        if (name)
            made = PyUnicode_FromFormat("%S", name);
        Py_XDECREF(name);
        return made;
    }
    PyObject *shape = PyObject_GetAttrString(value, "shape");
    PyObject *strides = shape ? PyObject_GetAttrString(value, "strides") : NULL;
    if (strides)
        made = PyUnicode_FromFormat("an array of dtype %S, shape %S and strides %S",
                                    PyArray_DESCR((PyArrayObject *)value), shape, strides);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return made;
}

static int refuse(const Param *param, int at, PyObject *value)
{
    PyErr_Clear();
    PyObject *wanted = expected(param), *given = wanted ? described(value) : NULL;
    if (given)
        PyErr_Format(PyExc_TypeError, "argument %d must be %S, not %S", at, wanted, given);
    Py_XDECREF(wanted);
    Py_XDECREF(given);
    return -1;
}

/* Tell if all fields of a structured dtype are native. */
static int all_native(Param *param, PyObject *descr)
{
    if (param->native == descr)
        return 1;
    PyObject *answer = PyObject_GetAttrString(descr, "isnative");
    int native = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (native == 1) {
        PyObject *old = param->native;
        Py_INCREF(descr);
        param->native = descr;
        Py_XDECREF(old);
    }
    return native == 1;
}

static int put_array(Param *param, Put *put, PyObject *value)
{
    if (!PyArray_Check(value))
        return refuse(param, put->at, value);
    PyArrayObject *array = (PyArrayObject *)value;
    PyArray_Descr *descr = PyArray_DESCR(array);
    int flags = NPY_ARRAY_ALIGNED | (param->form == 'A' ? NPY_ARRAY_C_CONTIGUOUS : 0), nd = param->nd;
    if (PyArray_NDIM(array) != nd || descr->kind != param->kind
        || PyDataType_ELSIZE(descr) != param->size || (PyArray_FLAGS(array) & flags) != flags
        || PyArray_ISBYTESWAPPED(array)
        || (param->kind == 'V' && !all_native(param, (PyObject *)descr)))
        return refuse(param, put->at, value);
    *put->word++ = (int64_t)PyArray_DATA(array);
    for (int d = 0; d < nd; d++)
        *put->word++ = PyArray_DIMS(array)[d];
    if (param->form == 'V')
        for (int d = 0; d < nd; d++)
            *put->word++ = PyArray_STRIDES(array)[d];
    return 0;
}

static int put_record(Param *param, Put *put, PyObject *value)
{
    if (!PyArray_IsScalar(value, Void))
        return refuse(param, put->at, value);
    PyVoidScalarObject *record = (PyVoidScalarObject *)value;
    PyArray_Descr *descr = record->descr;
    if (PyDataType_ELSIZE(descr) != param->size
        || (uintptr_t)record->obval % PyDataType_ALIGNMENT(descr)
        || !all_native(param, (PyObject *)descr))
        return refuse(param, put->at, value);
    *put->word++ = (int64_t)record->obval;
    return 0;
}

static int put_number(Param *param, Put *put, PyObject *value)
{
    if (param->form == 'f') {
        double number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred())
            return PyErr_ExceptionMatches(PyExc_TypeError) ? refuse(param, put->at, value) : -1;
        memcpy(put->word++, &number, sizeof number);
        return 0;
    }
    if (!PyIndex_Check(value) && !PyArray_IsScalar(value, Bool))
        return refuse(param, put->at, value);
    if (!as_word(value, put->word++))
        return 0;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_OverflowError, "argument %d does not fit into 64 bits", put->at);
    else if (PyErr_ExceptionMatches(PyExc_TypeError))
        return refuse(param, put->at, value);
    return -1;
}

static int put_one(Put *put, PyObject *value);

static int put_group(Put *put, PyObject *group)
{
    if (Py_EnterRecursiveCall(" in the arguments of a kernel"))
        return -1;
    int failed = 0;
    Py_ssize_t count = PyTuple_Size(group);
    for (Py_ssize_t i = 0; !failed && i < count; i++)
        failed = put_one(put, PyTuple_GetItem(group, i));
    Py_LeaveRecursiveCall();
    return failed;
}

/* Put the words of an argument or of a group. */
static int put_one(Put *put, PyObject *value)
{
    if (PyTuple_Check(value))
        return put_group(put, value);
    if (put->at >= put->kernel->params) { /* only counted */
        put->at++;
        return 0;
    }
    Param *param = &put->kernel->param[put->at];
    int failed = 0, truth;
    switch (param->form) {
    case 'A':
    case 'V':
        failed = put_array(param, put, value);
        break;
    case 'r':
        failed = put_record(param, put, value);
        break;
    case 'b':
        truth = PyObject_IsTrue(value);
        failed = truth < 0 ? -1 : 0;
        *put->word++ = truth;
        break;
    case 'R':
        if (!PyObject_TypeCheck(value, rule_type))
            return refuse(param, put->at, value);
        *put->word++ = (int64_t)&((Rule *)value)->record;
        break;
    default:
        failed = put_number(param, put, value);
    }
    put->at++;
    return failed;
}

/* ---- Kernels ---- */

/* Raise "ZeroDivisionError: division by zero", the text of a kernel's error. */
static PyObject *raise_text(const char *text)
{
    if (!text || !*text)
        return PyErr_Format(PyExc_SystemError, "a kernel failed without an error");
    size_t length = strcspn(text, ":");
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *name = builtins ? PyUnicode_DecodeUTF8(text, length, "replace") : NULL;
    PyObject *kind = name ? PyObject_GetAttr(builtins, name) : NULL;
    const char *rest = text + length;
    rest += *rest == ':';
    rest += *rest == ' ';
    PyErr_Clear();
    if (!kind || !PyExceptionClass_Check(kind))
        PyErr_SetString(PyExc_RuntimeError, text);
    else if (*rest)
        PyErr_SetString(kind, rest);
    else
        PyErr_SetNone(kind);
    Py_XDECREF(kind);
    Py_XDECREF(name);
    Py_XDECREF(builtins);
    return NULL;
}

static PyObject *value_of(char form, int64_t word)
{
    double number;
    switch (form) {
    case 'i':
        return PyLong_FromLongLong(word);
    case 'b':
        return PyBool_FromLong(word != 0);
    case 'f':
        memcpy(&number, &word, sizeof number);
        return PyFloat_FromDouble(number);
    }
    Py_RETURN_NONE;
}

static PyObject *kernel_call(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Kernel *kernel = PyCapsule_GetPointer(self, NULL);
    int64_t words[kernel->words + 1], results[kernel->results + 1];
    const char *error = NULL;
    Put put = {kernel, 0, words};
    for (Py_ssize_t i = 0; i < count; i++)
        if (put_one(&put, args[i]))
            return NULL;
    if (put.at != kernel->params)
        return PyErr_Format(PyExc_TypeError, "the kernel takes %d arguments, not %d",
                            kernel->params, put.at);
    int status = kernel->entry(words, results, &error);
    if (PyErr_Occurred()) /* a rule in Python failed */
        return NULL;
    if (status)
        return raise_text(error);
    if (kernel->result[0] != '(')
        return value_of(kernel->result[0], results[0]);
    PyObject *tuple = PyTuple_New(kernel->results);
    for (int i = 0; tuple && i < kernel->results; i++) {
        PyObject *value = value_of(kernel->result[i + 1], results[i]);
        if (!value || PyTuple_SetItem(tuple, i, value))
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyMethodDef kernel_def = {
    "kernel", (PyCFunction)(void (*)(void))kernel_call, METH_FASTCALL, "Call a native kernel.",
};

static void kernel_free(PyObject *capsule)
{
    Kernel *kernel = PyCapsule_GetPointer(capsule, NULL);
    for (int i = 0; i < kernel->params; i++)
        Py_CLEAR(kernel->param[i].native);
    free(kernel);
}

/* Read a form such as A1i8; return its number of words, or -1. */
static int read_form(const char *text, Param *param)
{
    char *end;
    param->form = text[0];
    if (text[0] && strchr("ibfR", text[0]))
        return text[1] ? -1 : 1;
    int array = text[0] == 'A' || text[0] == 'V';
    if (!array && text[0] != 'r')
        return -1;
    if (array && !(text[1] >= '1' && text[1] <= '9' && text[2]))
        return -1;
    param->nd = array ? text[1] - '0' : 0;
    param->kind = array ? text[2] : 'V';
    const char *size = text + (array ? 3 : 1);
    long bytes = *size >= '1' && *size <= '9' ? strtol(size, &end, 10) : 0;
    if (bytes < 1 || bytes > INT32_MAX || *end)
        return -1;
    param->size = (int)bytes;
    return array ? 1 + param->nd * (text[0] == 'V' ? 2 : 1) : 1;
}

/* Read a result such as v, i or (iib); return its number of words, or -1. */
static int read_result(const char *text)
{
    if (text[0] && strchr("vibf", text[0]))
        return text[1] ? -1 : text[0] != 'v';
    size_t many = text[0] == '(' ? strspn(text + 1, "ibf") : 0;
    return text[0] != '(' || many > MOST_RESULTS || strcmp(text + 1 + many, ")") ? -1 : (int)many;
}

static int read_forms(Kernel *kernel, PyObject *forms)
{
    for (int i = 0; i < kernel->params; i++) {
        PyObject *item = PySequence_GetItem(forms, i);
        const char *text = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        int words = text ? read_form(text, &kernel->param[i]) : -1;
        kernel->words += words;
        if (words < 0 && !PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "there is no form '%s' of arguments", text);
        else if (words >= 0 && kernel->words > MOST_WORDS)
            PyErr_Format(PyExc_ValueError, "a kernel takes at most %d words", MOST_WORDS);
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

static PyObject *make_kernel(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *address, *forms;
    const char *result;
    if (!PyArg_ParseTuple(args, "OOs:kernel", &address, &forms, &result))
        return NULL;
    void *entry = PyLong_AsVoidPtr(address);
    Py_ssize_t params = entry ? PySequence_Size(forms) : -1;
    int results = read_result(result);
    if (PyErr_Occurred())
        return NULL;
    if (!entry)
        return PyErr_Format(PyExc_ValueError, "a kernel has no address 0");
    if (results < 0)
        return PyErr_Format(PyExc_ValueError, "there is no form '%s' of results", result);
    if (params > MOST_WORDS)
        return PyErr_Format(PyExc_ValueError, "a kernel takes at most %d words", MOST_WORDS);
    Kernel *kernel = calloc(1, sizeof(Kernel) + params * sizeof(Param));
    if (!kernel)
        return PyErr_NoMemory();
    kernel->entry = (Entry)(intptr_t)entry;
    kernel->params = (int)params;
    kernel->results = results;
    strcpy(kernel->result, result);
    PyObject *capsule = PyCapsule_New(kernel, NULL, kernel_free), *made = NULL;
    if (!capsule)
        free(kernel);
    else if (!read_forms(kernel, forms))
        made = PyCFunction_NewEx(&kernel_def, capsule, NULL);
    Py_XDECREF(capsule);
    return made;
}

/* ---- Processor ---- */

#if defined(__x86_64__)
#include <cpuid.h>

/* (__builtin_cpu_supports needs a runtime library that some linkers replace by an empty one.) */
static const char *level_of_processor(void)
{
    const unsigned v2 = bit_SSE3 | bit_SSSE3 | bit_CMPXCHG16B | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT;
    const unsigned v3 = bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C;
    const unsigned v3_7 = bit_BMI | bit_AVX2 | bit_BMI2;
    const unsigned v4_7 = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
    unsigned a, b, c = 0, d, b7 = 0, c7, extended = 0, kept = 0, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & v2) != v2
        || !__get_cpuid(0x80000001, &a, &b, &extended, &d) || !(extended & bit_LAHF_LM))
        return "";
    if (c & bit_OSXSAVE) /* the registers that the system keeps */
        __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d))
        b7 = 0;
    if ((c & v3) != v3 || (b7 & v3_7) != v3_7 || !(extended & bit_LZCNT) || (kept & 6) != 6)
        return "x86-64-v2";
    return (b7 & v4_7) == v4_7 && (kept & 0xe6) == 0xe6 ? "x86-64-v4" : "x86-64-v3";
}
#elif defined(__aarch64__)
static const char *level_of_processor(void) { return "aarch64"; }
#else
static const char *level_of_processor(void) { return ""; }
#endif

static PyObject *cpu_level(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString(level_of_processor());
}

/* ---- Module ---- */

static PyMethodDef methods[] = {
    {"kernel", make_kernel, METH_VARARGS, "Make a function of the kernel at an address."},
    {"cpu_level", cpu_level, METH_NOARGS, "Return the level of this processor."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_calls", "Calls of native kernels.", -1, methods, NULL, NULL, NULL, NULL,
};

/* mpinet/base/native/build.py looks for this text in the file. */
static const char built_from[] = "mpinet calls built from " SOURCE;

PyMODINIT_FUNC PyInit__calls(void)
{
    if (_import_array() < 0) { /* NumPy is too old or too new */
        PyErr_Clear();
        PyErr_SetString(PyExc_ImportError, "the extension was built with another NumPy");
        return NULL;
    }
    PyObject *made = PyModule_Create(&module);
    if (!made)
        return NULL;
    rule_type = (PyTypeObject *)PyType_FromSpec(&rule_spec);
    Py_XINCREF(rule_type);
    if (!rule_type || PyModule_AddObject(made, "RuleForm", (PyObject *)rule_type)
        || PyModule_AddStringConstant(made, "BUILT_FROM", built_from))
        Py_CLEAR(made);
    return made;
}
